"""What the demo model says of its own accord; results of tools are told in `reports`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

EXAMPLES = """\
- what files are there?
- read notes.txt
- create a file hello.txt with Hello there! and then read it
- search for TODO
- run `uname -a`, or: run `rm -r build` (you will be asked first)
- my name is Ada (and later: what is my name?)
- count to 20, or: tell me a story"""

CONNECT = """\
To connect a real model, set one of these and restart the server:

- OPENAI_API_KEY for OpenAI;
- OPENAI_BASE_URL and HERMES_MODEL for any server that speaks OpenAI's protocol;
- ANTHROPIC_API_KEY for Anthropic.

config.yaml in the home folder can hold the same settings."""

GREETING = f"""\
Hello! I am the demo model built into Hermes Gateway. No AI is involved, but the tools I use are \
real. You could ask me:

{EXAMPLES}"""

ABOUT = f"""\
I am the demo model built into Hermes Gateway: a small script, not an AI. I answer because no \
model provider is configured yet. What you see around me is real: the agent loop, its tools, \
streaming and sessions.

{CONNECT}"""

HELP = f"""\
I am the demo model built into Hermes Gateway: a small script, not an AI. I understand requests \
like these, and really run the tools they need:

{EXAMPLES}

{CONNECT}"""

THANKS = "You are welcome! Ask for help at any time to see what else I can do."

GOODBYE = "Goodbye! Come back with a real model whenever you like."

NO_IMAGES = (
    "The demo model cannot see images. Send text only, or connect a model with vision: set "
    "OPENAI_API_KEY or ANTHROPIC_API_KEY and restart the server."
)

STORY = """\
Once there was a messenger who carried letters between two cities that did not share a language. \
The first city wrote in long sentences, the second in short ones, and neither cared to learn the \
other's way.

So the messenger learned both. Every morning a question was pressed into her hand, and every \
evening she brought an answer home. On the way she stopped wherever the answer could be found: she \
counted the barrels in the harbour, read the inscriptions on old walls, and asked the bell ringer \
for the time.

One winter the bridge gave way beneath her. The people waiting at the gate feared that the letter \
was lost. But the messenger had a habit: at every milestone she wrote down what she had seen so \
far. When she climbed out of the river she opened her book, found the last line, and walked on \
from there.

"Weren't you afraid of forgetting?" asked the gatekeeper when she arrived, dripping but in time.

"I never trusted my memory," she said. "I trusted my notes."

The gatekeeper laughed and wrote that down, too."""

LONG_ANSWER = """\
Here is a longer answer, so that you can watch it arrive.

Your request reached the gateway as plain HTTP. The gateway read it, gave the turn a name and \
started a run: a list of events that only ever grows. An agent then took over in a thread of its \
own. It put together the instructions, the conversation so far and your words, and handed them \
to a model. Tonight that model is me, a short script; tomorrow it may be a very large network in a \
distant data centre. The agent cannot tell the difference, because both of us speak in the same \
small pieces.

Each piece becomes one event. The event is written to the run, a bell rings, and everybody who is \
reading along receives it at once. You see one client's view of it. A second client could follow \
the same run from its first event, a third could join in the middle, and all three would read the \
same words in the same order.

If I had needed a tool, the agent would have run it on the server and shown me the result before I \
went on. If you had closed the connection, the run would have been told. And if the answer had \
failed halfway, the run would say so instead of pretending to be complete.

That is the whole journey. Thank you for reading to the end."""

_MOST_COUNTED = 500

_TOOLSET = {"terminal": "terminal"}


def not_understood(request: str) -> str:
    return f"""\
You wrote: "{_shorten(request)}". I am only the built-in demo model, so I know no answer to \
that; a real model would. I do understand requests like these:

{EXAMPLES}

{CONNECT}"""


def declined_command(command: str) -> str:
    return (
        f"I would rather not run `{_shorten(command)}`. As a demo model I cannot judge what a "
        "command does, so I keep to a few harmless ones such as `date`, `uname -a`, `ls -la` or "
        "`wc notes.txt`. A real model would decide for itself."
    )


def missing_tool(tool: str, available: Iterable[str]) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(available)) or "none at all"
    toolset = _TOOLSET.get(tool, "files")
    return (
        f"I would need the tool `{tool}` for that, but it is not among the tools I was given "
        f"({names}). Enable the toolset `{toolset}` in the settings and ask again."
    )


def tool_names(available: Iterable[str]) -> str:
    names = sorted(available)
    if not names:
        return "I was given no tools, so I can only talk. Enable a toolset in the settings."
    return "These are the tools I may use:\n\n" + "\n".join(f"- `{name}`" for name in names)


def counted(first: int, last: int) -> str:
    """The numbers in between, in either direction, cut off before they become a flood."""
    step = 1 if first <= last else -1
    numbers = range(first, last + step, step)
    said = ", ".join(str(number) for number in numbers[:_MOST_COUNTED])
    if len(numbers) > _MOST_COUNTED:
        return f"{said} … I stop after {_MOST_COUNTED} numbers."
    return f"{said}."


def said_before(earlier: Sequence[str]) -> str:
    if not earlier:
        return (
            "Nothing before this message, as far as I can see. Send your messages with the same "
            "session, or with the earlier ones included, and I will see them."
        )
    lines = "\n".join(f"{number}. {_shorten(text)}" for number, text in enumerate(earlier, 1))
    return f"Earlier in this conversation you wrote:\n\n{lines}"


def said_once(which: str, text: str | None) -> str:
    if text is None:
        return said_before(())
    return f"Your {which} message was:\n\n> {_shorten(text)}"


def noted(thing: str) -> str:
    return (
        f"Noted: {thing}. I have no memory of my own, but the gateway keeps our conversation, so "
        "ask me again later in this session."
    )


def recalled(thing: str, value: str | None) -> str:
    if value is None:
        return (
            f"You have not told me your {thing} in this conversation. Say: my {thing} is … and ask "
            "me again."
        )
    return f"Your {thing} is {value}. You told me earlier in this conversation."


def _shorten(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
