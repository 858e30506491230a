"""Message contents from either dialect, brought into the one form history has in the house.

Nothing is dropped in silence: a part that cannot be carried on is refused by name.
"""

from __future__ import annotations

import re
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.messages import Content
from hermes.wire.lenient import shown, wrong_type

_TEXT_TYPES = ("text", "input_text", "output_text")
_IMAGE_URL = re.compile(r"data:image/[\w.+-]+;base64,.|https?://.", re.IGNORECASE | re.ASCII)

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
            "Images are not possible here; put them into a user message.",
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
    raise InvalidRequest(
        f"Content parts of type {shown(kind)} are not supported; send text or images.",
        param=param,
        code="unsupported_content_type",
    )


def _text(text: Any, param: str) -> Part:
    if not isinstance(text, str):
        raise wrong_type(param, "a string", text)
    return {"type": "text", "text": text}


def _image(raw: Part, param: str) -> Part:
    source = raw.get("image_url")
    described = source if isinstance(source, dict) else {"url": source, "detail": raw.get("detail")}
    image = {"url": _checked_url(described.get("url"), f"{param}.image_url")}
    detail = described.get("detail")
    if detail is not None:
        if not isinstance(detail, str):
            raise wrong_type(f"{param}.detail", "a string", detail)
        image["detail"] = detail
    return {"type": "image_url", "image_url": image}


def _checked_url(url: Any, param: str) -> str:
    if not isinstance(url, str):
        raise wrong_type(param, "an image URL", url)
    if not _IMAGE_URL.match(url):
        raise InvalidRequest(
            "An image must be an http(s) URL or a 'data:image/...;base64,' URL.",
            param=param,
            code="invalid_image_url",
        )
    return url
