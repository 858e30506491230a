"""A stand-in for the `claude` CLI that speaks its protocol and does what a prompt says.

`[tool]` runs a tool, `[ask: …]` asks for permission to run a command, `[slow: n]` takes its time,
`[hang]` falls silent, `[child]` leaves a process of its own behind and falls silent, `[crash]` and
`[garbage]` do that, `[refused: 401]` is what the provider says. Anything else is repeated.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any, NoReturn

HELP = "--restricted --setting-sources --strict-mcp-config --tools --json-schema"
USAGE = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 30,
    "output_tokens": 17,
}
MODEL_USAGE = {
    "inputTokens": 100,
    "outputTokens": 17,
    "cacheReadInputTokens": 30,
    "cacheCreationInputTokens": 20,
    "costUSD": 0.25,
}


class Session:
    """What it remembers, in a file of its settings' folder, as the real one does."""

    def __init__(self, argv: list[str]) -> None:
        resumed = _value(argv, "--resume")
        self.id = resumed or _value(argv, "--session-id") or str(uuid.uuid4())
        self.path = Path(os.environ["CLAUDE_CONFIG_DIR"]) / f"{self.id}.json"
        self.is_unknown = resumed is not None and not self.path.exists()
        self.is_kept = "--no-session-persistence" not in argv
        self.said: list[str] = json.loads(self.path.read_text()) if self.path.exists() else []

    def hear(self, text: str) -> None:
        self.said.append(text)
        if self.is_kept:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.said))


def _value(argv: list[str], flag: str) -> str | None:
    return argv[argv.index(flag) + 1] if flag in argv else None


class Stub:
    def __init__(self, argv: list[str]) -> None:
        self.argv = argv
        self.session = Session(argv)
        self.model = _value(argv, "--model") or "default"
        self.turns = 0

    def say(self, **line: Any) -> None:
        sys.stdout.write(json.dumps({**line, "session_id": self.session.id}) + "\n")
        sys.stdout.flush()

    def run(self) -> None:
        if self.session.is_unknown:
            self.result(is_error=True, text=None, errors=["No conversation found"])
            sys.stderr.write(f"No conversation found with session ID: {self.session.id}\n")
            sys.exit(1)
        if "--input-format" not in self.argv:
            self.answer(sys.stdin.read())
            return
        for line in sys.stdin:
            message = json.loads(line)
            if message["type"] == "control_request":
                self.control(message)
            elif message["type"] == "user":
                self.answer(message["message"]["content"])

    def control(self, message: dict[str, Any]) -> None:
        done = {"subtype": "success", "request_id": message["request_id"], "response": {}}
        self.say(type="control_response", response=done)
        if message["request"]["subtype"] == "interrupt":
            self.result(is_error=True, text=None, subtype="error_during_execution")

    def answer(self, content: Any) -> None:
        parts = [content] if isinstance(content, str) else content
        texts = [part if isinstance(part, str) else part.get("text", "") for part in parts]
        text = "".join(texts).strip()
        images = sum(isinstance(part, dict) and part["type"] == "image" for part in parts)
        self.session.hear(text)
        self.say(type="system", subtype="init", model=self.model, tools=[], cwd=str(Path.cwd()))
        directive = re.search(r"\[(\w+)(?:: ?([^\]]*))?\]\s*$", text)
        if directive is None:
            heard = f" ({len(self.session.said)} heard)" if len(self.session.said) > 1 else ""
            pictures = f" with {images} image" if images else ""
            self.message(f"echo: {text}{pictures}{heard}")
        else:
            getattr(self, f"do_{directive[1]}")(directive[2] or "")

    def message(self, text: str, *, pause: float = 0.0) -> None:
        self.speak(text, pause)
        self.result(text=text)

    def speak(self, text: str, pause: float = 0.0) -> None:
        name = f"msg_{uuid.uuid4().hex}"
        start = {"id": name, "role": "assistant", "model": self.model, "usage": USAGE}
        self.event(type="message_start", message=start)
        self.event(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
        for word in re.findall(r"\S+\s*|\s+", text):
            time.sleep(pause)
            delta = {"type": "text_delta", "text": word}
            self.event(type="content_block_delta", index=0, delta=delta)
        block = {"type": "text", "text": text}
        self.say(type="assistant", message={**start, "content": [block]}, parent_tool_use_id=None)
        self.event(type="content_block_stop", index=0)
        self.event(type="message_delta", delta={"stop_reason": "end_turn"}, usage=USAGE)
        self.event(type="message_stop")

    def event(self, **event: Any) -> None:
        self.say(type="stream_event", event=event, parent_tool_use_id=None)

    def result(
        self, *, text: str | None, is_error: bool = False, subtype: str = "success", **more: Any
    ) -> None:
        said = {} if text is None else {"result": text}
        used = {} if is_error else {"model_usage_since_last_result": {self.model: MODEL_USAGE}}
        ending = {"terminal_reason": "completed", **said, **used, **more}
        self.say(
            type="result",
            subtype=subtype,
            is_error=is_error,
            usage=USAGE,
            total_cost_usd=0.25,
            **ending,
        )

    def call(self, command: str) -> str:
        call_id = f"toolu_{uuid.uuid4().hex}"
        block = {
            "type": "tool_use",
            "id": call_id,
            "name": "Bash",
            "input": {"command": command},
        }
        message = {"id": f"msg_{call_id}", "role": "assistant", "model": self.model}
        self.say(type="assistant", message={**message, "content": [block], "usage": USAGE})
        return call_id

    def called(self, call_id: str, output: str, *, is_error: bool = False) -> None:
        block = {
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": output,
            "is_error": is_error,
        }
        self.say(type="user", message={"role": "user", "content": [block]})

    # --- what a prompt may say ----------------------------------------------------------------

    def do_tool(self, _: str) -> None:
        self.speak("Let me look.")
        self.called(self.call("ls"), "a.txt")
        self.message("There is a.txt.")

    def do_ask(self, command: str) -> None:
        call_id = self.call(command)
        if "--permission-prompt-tool" not in self.argv:
            self.called(call_id, "not allowed", is_error=True)
            return self.message("I may not ask.")
        request_id = str(uuid.uuid4())
        request = {
            "subtype": "can_use_tool",
            "tool_name": "Bash",
            "input": {"command": command},
            "tool_use_id": call_id,
        }
        self.say(type="control_request", request_id=request_id, request=request)
        decision = self.decision(request_id)
        if decision["behavior"] == "allow":
            self.called(call_id, f"ran {command}")
            return self.message("It ran.")
        self.called(call_id, decision["message"], is_error=True)
        return self.message(f"It did not run: {decision['message']}")

    def decision(self, request_id: str) -> dict[str, Any]:
        for line in sys.stdin:
            message = json.loads(line)
            if message["type"] == "control_request":
                self.control(message)
                sys.exit(0)
            response = message.get("response", {})
            if response.get("request_id") == request_id:
                found: dict[str, Any] = response["response"]
                return found
        sys.exit(0)

    def do_approved(self, _: str) -> None:
        self.do_ask("touch approved")

    def do_slow(self, words: str) -> None:
        count = int(words or 200)
        self.message(" ".join(f"word{number}" for number in range(count)), pause=0.05)

    def do_hang(self, _: str) -> None:
        self.speak("One moment.")
        time.sleep(3600)

    def do_child(self, _: str) -> None:
        subprocess.Popen(["sleep", "3600"], start_new_session=True)
        self.do_hang("")

    def do_crash(self, _: str) -> NoReturn:
        sys.stderr.write("boom\n")
        sys.exit(3)

    def do_garbage(self, _: str) -> NoReturn:
        sys.stdout.write("this is not what a CLI says\n")
        sys.exit(0)

    def do_refused(self, status: str) -> NoReturn:
        key = os.environ.get("ANTHROPIC_API_KEY")
        words = f"API Error: {status} refused the key {key}"
        self.result(
            is_error=True, text=words, api_error_status=int(status), terminal_reason="api_error"
        )
        sys.exit(1)

    def do_env(self, _: str) -> None:
        self.message(json.dumps(dict(os.environ)))

    def do_json(self, written: str) -> None:
        self.message(written.replace("<", "{").replace(">", "}"))


def main() -> None:
    argv = sys.argv[1:]
    if "--version" in argv:
        print("2.1.325 (Claude Code)")  # noqa: T201
    elif "--help" in argv:
        print(HELP)  # noqa: T201
    else:
        Stub(argv).run()


if __name__ == "__main__":
    main()
