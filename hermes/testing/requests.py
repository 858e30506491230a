"""A request as a model for tests sees it: what was asked, in whichever dialect it was asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes.core.data_marks import unmark

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_SYSTEM_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request as it came over the wire. What has one name everywhere is read from `body`."""

    dialect: str
    """`chat`, `responses` or `anthropic`."""
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    number: int = 1
    """Counts the provider's requests, from 1."""
    input_tokens: int = 1

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def wants_stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The conversation: `messages`, or the `input` of a Responses request."""
        said = self.body.get("messages", self.body.get("input", ()))
        return ({"role": "user", "content": said},) if isinstance(said, str) else said

    @property
    def last_user_text(self) -> str:
        users = [message for message in self.messages if message.get("role") == "user"]
        return _readable(users[-1].get("content")) if users else ""

    @property
    def system_text(self) -> str:
        """Everything the model was told before the conversation."""
        beside = self.body.get("system", self.body.get("instructions"))
        within = [m["content"] for m in self.messages if m.get("role") in _SYSTEM_ROLES]
        return "\n\n".join(filter(None, map(_readable, (beside, *within))))

    @property
    def max_tokens(self) -> int | None:
        return next((self.body[name] for name in _LIMITS if name in self.body), None)

    @property
    def tool_names(self) -> list[str]:
        """The tools that may be called, in the order in which they were offered."""
        return [str(tool.get("function", tool)["name"]) for tool in self.body.get("tools", ())]

    @property
    def tool_choice(self) -> str:
        """`auto`, `none`, `required`, or the name of the tool that has to be called."""
        choice = self.body.get("tool_choice", "auto")
        if isinstance(choice, str):
            return choice
        named = choice.get("function", choice).get("name")
        return str(named or {"any": "required"}.get(choice["type"], choice["type"]))

    @property
    def tool_results(self) -> dict[str, str]:
        """What tools answered: the text under the id of each call, without the agent's marks."""
        return {call_id: unmark(_readable(said)) for call_id, said in _results(self.messages)}

    @property
    def answer_schema(self) -> Mapping[str, Any] | None:
        """The schema the answer has to keep to, where the dialect has a parameter for it."""
        wanted = self._answer_format
        found: Mapping[str, Any] | None = wanted.get("json_schema", wanted).get("schema")
        return found

    @property
    def wants_json(self) -> bool:
        """Whether the dialect's parameter for the form of the answer demands JSON."""
        return self._answer_format.get("type") in ("json_object", "json_schema")

    @property
    def images(self) -> list[str]:
        """The URLs of all images, wherever they stand; embedded ones are data URLs."""
        return list(_images(self.messages))

    @property
    def _answer_format(self) -> Mapping[str, Any]:
        text = self.body.get("text") or {}
        wanted: Mapping[str, Any] = self.body.get("response_format") or text.get("format") or {}
        return wanted


def _readable(content: Any) -> str:
    """The text of a string or of content parts, in any dialect."""
    if isinstance(content, str):
        return content
    return "".join(str(part["text"]) for part in content or () if "text" in part)


def _results(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    for message in messages:
        if message.get("role") == "tool":
            yield message["tool_call_id"], message["content"]
        elif message.get("type") == "function_call_output":
            yield message["call_id"], message["output"]
        elif isinstance(message.get("content"), list):
            for block in message["content"]:
                if block.get("type") == "tool_result":
                    yield block["tool_use_id"], block["content"]


def _images(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for inner in value:
            yield from _images(inner)
    elif isinstance(value, Mapping):
        if value.get("type") in ("image_url", "input_image", "image"):
            yield _url(value)
        else:
            yield from _images([*value.values()])


def _url(part: Mapping[str, Any]) -> str:
    source = part.get("source")
    if source is None:
        image = part["image_url"]
        return str(image["url"] if isinstance(image, Mapping) else image)
    if source["type"] == "base64":
        return f"data:{source['media_type']};base64,{source['data']}"
    return str(source["url"])
