"""Message contents from either dialect, brought into the one form history has in the house.

Nothing is dropped in silence: a part that cannot be carried on is refused by name.
"""

from __future__ import annotations

import binascii
import re
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.messages import Content
from hermes.wire.lenient import required_text, shown, text, wrong_type

_TEXT_TYPES = ("text", "input_text", "output_text")
_IMAGE_URL = re.compile(r"data:image/[\w.+-]+;base64,.|https?://.", re.IGNORECASE | re.ASCII)
_FILE_URL = re.compile(r"data:[\w.+/-]*(?:;[\w.+-]+=[\w.+-]+)*;base64,", re.IGNORECASE | re.ASCII)

MAX_IMAGE_BYTES = 20 * 1024 * 1024

Part = dict[str, Any]


def normalise(content: Any, *, param: str) -> Content:
    """A string stays the very same string; parts that are all text become one string."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise wrong_type(param, "a string or a list of content parts", content)
    parts = [_part(raw, f"{param}[{at}]") for at, raw in enumerate(content)]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def plain_text(content: Any, *, param: str) -> str:
    """Content of a message that may hold nothing but text."""
    found = normalise(content, param=param)
    if not isinstance(found, str):
        raise InvalidRequest(
            "Only text is possible here; put images and files into a user message.",
            param=param,
            code="invalid_value",
        )
    return found


def _part(raw: Any, param: str) -> Part:
    if not isinstance(raw, dict):
        raise wrong_type(param, "a content part object", raw)
    kind = raw.get("type")
    if kind in _TEXT_TYPES:
        return _text(raw.get("text"), f"{param}.text")
    if kind == "refusal":
        return _text(raw.get("refusal"), f"{param}.refusal")
    if kind == "image_url" or kind == "input_image":
        return _image(raw, param)
    if kind == "image_file":
        return _image_file(_section(raw, "image_file", param), f"{param}.image_file")
    if kind == "file":
        return _file(_section(raw, "file", param), f"{param}.file")
    if kind == "input_file":
        return _file(raw, param)
    if kind == "input_audio":
        raise InvalidRequest(
            "Audio cannot be heard here; send its transcript as text.",
            param=param,
            code="audio_unsupported",
        )
    raise InvalidRequest(
        f"Content parts of type {shown(kind)} are not supported; send text, images or files.",
        param=param,
        code="unsupported_content_type",
    )


def _text(said: Any, param: str) -> Part:
    if not isinstance(said, str):
        raise wrong_type(param, "a string", said)
    return {"type": "text", "text": said}


def _section(raw: Part, name: str, param: str) -> Part:
    section = raw.get(name)
    if not isinstance(section, dict):
        raise wrong_type(f"{param}.{name}", "an object", section)
    return section


def _image(raw: Part, param: str) -> Part:
    source = raw.get("image_url")
    if source is None and raw.get("file_id") is not None:
        return _image_file(raw, param)
    described = source if isinstance(source, dict) else {"url": source, "detail": raw.get("detail")}
    image = {"url": _checked_url(described.get("url"), f"{param}.image_url")}
    return {"type": "image_url", "image_url": image | _detail(described, param)}


def _image_file(described: Part, param: str) -> Part:
    """An uploaded image; the server puts the image itself in its place."""
    file_id = required_text(described, "file_id", param=f"{param}.file_id")
    return {"type": "image_file", "image_file": {"file_id": file_id} | _detail(described, param)}


def _detail(described: Part, param: str) -> dict[str, str]:
    detail = text(described, "detail", param=f"{param}.detail")
    return {} if detail is None else {"detail": detail}


def _file(described: Part, param: str) -> Part:
    """A file, by its id or as it is; the server puts its text in its place."""
    if described.get("file_url") is not None:
        raise InvalidRequest(
            "Files are not fetched from URLs; upload it with POST /v1/files and send its "
            "'file_id', or send it as 'file_data'.",
            param=f"{param}.file_url",
            code="file_url_unsupported",
        )
    file_id = text(described, "file_id", param=f"{param}.file_id")
    file_data = text(described, "file_data", param=f"{param}.file_data")
    if bool(file_id) == bool(file_data):
        raise InvalidRequest(
            "A file part needs either 'file_id' (of a file uploaded with POST /v1/files) or "
            "'file_data' (a 'data:...;base64,' URL).",
            param=param,
            code="invalid_value",
        )
    if file_data:
        _size_of(file_data_base64(file_data), f"{param}.file_data", "invalid_file_data")
    named = text(described, "filename", param=f"{param}.filename")
    source = {"file_id": file_id} if file_id else {"file_data": file_data}
    return {"type": "file", "file": source | ({} if named is None else {"filename": named})}


def file_data_base64(file_data: str) -> str:
    """The base64 of a file sent inline: behind the head of a data URL, or all of it."""
    head = _FILE_URL.match(file_data)
    return file_data if head is None else file_data[head.end() :]


def _checked_url(url: Any, param: str) -> str:
    if not isinstance(url, str):
        raise wrong_type(param, "an image URL", url)
    if not _IMAGE_URL.match(url):
        raise InvalidRequest(
            "An image must be an http(s) URL or a 'data:image/...;base64,' URL.",
            param=param,
            code="invalid_image_url",
        )
    if url[:5].lower() == "data:":
        _check_image(url.partition(",")[2], param)
    return url


def _check_image(encoded: str, param: str) -> None:
    if _size_of(encoded, param, "invalid_image") > MAX_IMAGE_BYTES:
        raise InvalidRequest(
            f"The image is larger than {MAX_IMAGE_BYTES} bytes; send a smaller one.",
            param=param,
            code="image_too_large",
        )


def _size_of(encoded: str, param: str, code: str) -> int:
    """How many bytes it is; refuses what is not base64, which the model's provider would too."""
    try:
        return len(binascii.a2b_base64(encoded, strict_mode=True))
    except ValueError:
        raise InvalidRequest(
            f"'{param}' does not hold valid base64; encode the whole file, with padding and "
            "without line breaks.",
            param=param,
            code=code,
        ) from None
