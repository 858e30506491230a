"""What the demo model understands: a table of phrases, each with the move it leads to.

Adding a phrase is adding a row to `INTENTS`; a row must fit the whole request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hermes.providers.demo import actions, answers
from hermes.providers.demo.commands import HARMLESS
from hermes.providers.demo.conversation import Conversation
from hermes.providers.demo.moves import Move

_PATH = (
    r"(?:(?:the|my|a|an)\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?"
    r"(?P<path>`[^`]+`|\"[^\"]+\"|'[^']+'"
    r"|(?=\S*[./])[\w.~/-]*[\w/]|(?:README|LICENSE|Makefile|Dockerfile)\b)"
)
_FOLDER = r"(?:the\s+|my\s+)?(?:folder\s+|directory\s+)?(?P<folder>(?!-)[\w.~/-]*[\w/])"
_HERE = (
    r"(?:here|there|in\s+(?:here|the|this|my|your)(?:\s+(?:current|demo))?"
    r"\s+(?:folder|directory|workspace|project))"
)
_IS = actions.IS
_CONTENT_NOUN = r"(?:(?:the\s+)?(?:text|contents?|words?|line)\b\s*:?\s*)?"
_END = r"[\s.?!]*(?:,?\s*(?:please|for\s+me|thanks|thank\s+you|now|again))*[\s.?!]*"


@dataclass(frozen=True, slots=True)
class Intent:
    """A family of phrases and what to do about them."""

    name: str
    phrase: str
    """A regular expression; compiled when first needed, so that importing it costs nothing."""
    move: Callable[[re.Match[str], Conversation], Move | None]
    """None when, on a closer look, something else was meant."""

    def match(self, request: str) -> re.Match[str] | None:
        return re.fullmatch(self.phrase, request, re.IGNORECASE | re.DOTALL)


def _bare_command() -> str:
    """A message that is nothing but a command: `uname -a`, but not `date night ideas`."""
    programs = "|".join(HARMLESS)
    return rf"(?P<command>echo\s.+|(?:{programs})(?:\s+(?:[-+]\S+|\S*[./]\S*|\d+))*)"


_QUESTIONS: Mapping[str, str] = {
    rf"what(?:{_IS})?\s+(?:the\s+)?(?:time|date|day)(?:\s+is)?(?:\s+it)?(?:\s+today)?": "date",
    rf"what{_IS}\s+today(?:['\u2019]s\s+date)?": "date",
    r"where\s+are\s+you|(?:what|which)\s+(?:folder|directory)\s+are\s+you\s+in": "pwd",
    rf"what{_IS}\s+(?:the|your)\s+(?:current\s+|working\s+)*(?:folder|directory)": "pwd",
    r"(?:what|which)\s+(?:system|os|operating\s+system|machine|kernel)\b.*": "uname -a",
    r"how\s+much\s+(?:disk|free)?\s*space\b.*": "df -h",
    r"how\s+long\s+has\s+(?:the|this)\s+(?:machine|server|system)\b.*": "uptime",
}

_THE_FILES = r"(?:all\s+)?(?:of\s+)?(?:the\s+|my\s+|your\s+)?(?:files|folders?|director(?:y|ies))"

INTENTS: tuple[Intent, ...] = (
    Intent(
        "use a tool by its name",
        (
            r"(?:use|call|try|invoke)\s+(?:(?:the|my)\s+)?(?:tool\s+|function\s+)?"
            r"[`'\"]?(?P<tool>[\w.-]*\w)[`'\"]?(?:\s+(?:tool|function))?"
            rf"(?:\s+with\s+(?P<given>\{{.*\}}))?{_END}"
        ),
        actions.use_by_name,
    ),
    Intent(
        "write to a file",
        rf"(?:write|save)\s+(?:to|into)\s+{_PATH}\s*[:,]?\s+(?P<content>.+)",
        actions.write,
    ),
    Intent(
        "create a file with content",
        (
            rf"(?:create|make|write|add)\s+(?:an?\s+)?(?:new\s+|text\s+)*{_PATH}\s*,?\s+"
            r"(?:with|containing|saying|(?:that|which)\s+(?:says|contains|reads))\s+"
            rf"{_CONTENT_NOUN}(?P<content>.+)"
        ),
        actions.write,
    ),
    Intent(
        "create an empty file",
        rf"(?:create|make|touch)\s+(?:an?\s+)?(?:new\s+|empty\s+|text\s+)*(?:file\s+)?{_PATH}{_END}",
        actions.write,
    ),
    Intent(
        "put text into a file",
        (
            rf"(?:write|put|save|store)\s+{_CONTENT_NOUN}(?P<content>.+?)\s+"
            rf"(?:to|into|in|as|under)\s+{_PATH}{_END}"
        ),
        actions.write,
    ),
    Intent(
        "replace text in a file",
        rf"(?:replace|change)\s+(?P<old>.+?)\s+(?:with|by|to)\s+(?P<new>.+?)\s+in\s+{_PATH}{_END}",
        actions.replace,
    ),
    Intent("list a bare folder", rf"(?:ls|dir)(?:\s+{_FOLDER})?{_END}", actions.list_folder),
    Intent(
        "list files",
        (
            rf"(?:(?:list|show)(?:\s+me)?\s+{_THE_FILES}|(?:what|which)\s+files\b(?:\s+(?:are|do|is|can)\b"
            rf"(?:\s+(?:you|i|we)\s+(?:have|see))?)?)"
            rf"(?:\s+(?:there|{_HERE}|(?:in|of|inside|under)\s+{_FOLDER}(?:\s+(?:folder|directory))?))*{_END}"
        ),
        actions.list_folder,
    ),
    Intent(
        "look around",
        rf"what{_IS}\s+(?:all\s+)?(?:in\s+)?{_HERE}{_END}",
        actions.list_folder,
    ),
    Intent(
        "look into a folder",
        (
            rf"what{_IS}\s+in\s+(?:the\s+)?(?:(?:folder|directory)\s+(?P<folder>[\w./-]*[\w/])"
            rf"|(?P<other_folder>[\w./-]+)\s+(?:folder|directory)){_END}"
        ),
        actions.list_folder,
    ),
    Intent(
        "read a file",
        (
            r"(?:read|show|open|print|display|cat|view)(?:\s+(?:me|us))?"
            rf"(?:\s+(?:the\s+)?contents?\s+of)?\s+{_PATH}(?:\s+file)?{_END}"
        ),
        actions.read,
    ),
    Intent(
        "ask what a file says",
        (
            rf"what(?:(?:{_IS}|\s+are)\s+(?:in|inside|(?:the\s+)?contents?\s+of)\s+{_PATH}"
            rf"|\s+does\s+{_PATH.replace('<path>', '<other_path>')}\s+(?:say|contain)){_END}"
        ),
        actions.read,
    ),
    Intent(
        "run a quoted command",
        rf"(?:run|execute)\s+(?:the\s+command\s+)?(?:`(?P<command>[^`]+)`){_END}",
        actions.run,
    ),
    Intent(
        "run a command",
        (
            r"(?:run|execute)\s+(?:the\s+command\s+)?(?P<command>.+?)"
            r"(?:,?\s+(?:please|for\s+me|now))*(?:(?<=\w)[.?!]+)?"
        ),
        actions.run,
    ),
    Intent(
        "delete a folder",
        (
            r"(?:delete|remove)\s+(?:the\s+)?(?:(?:folder|directory)\s+(?P<folder>[\w./-]*[\w/])"
            rf"|(?P<other_folder>[\w./-]+)\s+(?:folder|directory)){_END}"
        ),
        actions.delete,
    ),
    Intent("type a bare command", _bare_command(), actions.run),
    Intent(
        "search the files",
        (
            r"(?:search(?:\s+for)?|grep(?:\s+for)?|look\s+for|find)\s+(?!out\b|me\b)"
            r"(?:(?:all\s+)?(?:files|lines)\s+(?:containing|with)\s+)?(?:the\s+(?:word|text)\s+)?"
            r"(?P<term>`[^`]+`|\"[^\"]+\"|'[^']+'|.+?)"
            rf"(?:\s+(?:in|inside)\s+(?:(?:all\s+)?(?:the|my)\s+(?:files|workspace)|{_PATH}))?{_END}"
        ),
        actions.search,
    ),
    *(
        Intent(f"ask the machine: {command}", rf"(?:{question}){_END}", actions.runs(command))
        for question, command in _QUESTIONS.items()
    ),
    Intent(
        "ask for one earlier message",
        (
            rf"(?:what{_IS}|repeat|tell\s+me)\s+my\s+(?P<which>first|last|previous)\s+"
            rf"(?:message|question|request){_END}"
        ),
        actions.recall_one,
    ),
    Intent(
        "ask what was said before",
        (
            r"what\s+(?:did|have)\s+(?:i|we)\s+(?:just\s+)?(?:say|said|ask|asked|tell|told|write"
            r"|written|talk|talked|discuss|discussed)\b.*"
            r"|(?:do|can)\s+you\s+(?:still\s+)?remember\b.*|what\s+do\s+you\s+remember\b.*"
        ),
        actions.recall_all,
    ),
    Intent(
        "ask for a fact told before",
        rf"(?:what{_IS}\s+my\s+(?P<thing>[\w ]+?)|who\s+am\s+i){_END}",
        actions.recall_fact,
    ),
    Intent(
        "tell a fact",
        r"(?:remember(?:\s+that)?[\s:]+(?P<fact>.+))",
        actions.note,
    ),
    Intent("tell something about oneself", rf"(?P<fact>my\s+[\w ]+?{_IS}\s+.+)", actions.note),
    Intent("give a name", r"(?P<fact>(?:call\s+me|i\s+am\s+called)\s+.+)", actions.note),
    Intent(
        "count",
        (
            r"count(?P<down>\s+down)?(?:\s+from\s+(?P<first>\d{1,9}))?"
            rf"(?:\s+(?:up\s+)?to\s+(?P<last>\d{{1,9}}))?{_END}"
        ),
        actions.count,
    ),
    Intent(
        "tell a story",
        r"(?:tell|write|give|read|show)\b.*\b(?:story|tale)\b.*|(?:a\s+)?story\b.*",
        actions.says(answers.STORY),
    ),
    Intent(
        "write a long answer",
        r".*\b(?:long|longer|lengthy)\s+(?:answer|text|reply|response|message|essay)\b.*",
        actions.says(answers.LONG_ANSWER),
    ),
    Intent(
        "ask for the tools",
        rf"(?:(?:what|which)\s+tools\b.*|list\s+(?:the\s+|your\s+)?tools{_END})",
        actions.name_tools,
    ),
    Intent(
        "ask who it is",
        (
            rf"(?:who|what)\s+are\s+you\b.*|are\s+you\s+(?:an?\s+)?(?:ai|bot|real|human|model|script)\b.*"
            rf"|what{_IS}\s+your\s+name{_END}|(?:what|which)\s+model\b.*"
        ),
        actions.says(answers.ABOUT),
    ),
    Intent(
        "ask for help",
        (
            rf"help(?:\s+me)?{_END}|what\s+can\s+(?:you|i)\s+(?:do|ask)\b.*|how\s+do\s+i\s+(?:start|connect|use)\b.*"
            rf"|how\s+does\s+this\s+work{_END}|show\s+(?:me\s+)?examples{_END}"
        ),
        actions.says(answers.HELP),
    ),
    Intent(
        "say thanks",
        r"(?:thanks|thank\s+you|great|cool|nice)\b.{0,40}",
        actions.says(answers.THANKS),
    ),
    Intent(
        "say goodbye",
        r"(?:bye|goodbye|good\s+night|see\s+you)\b.{0,40}",
        actions.says(answers.GOODBYE),
    ),
    Intent(
        "greet",
        (
            r"(?:(?:hi|hello|hey|howdy|greetings|moin|good\s+(?:morning|afternoon|evening|day))\b.{0,40}"
            r"|(?:how\s+are\s+you|how\s+is\s+it\s+going|are\s+you\s+there)\b.*|)"
        ),
        actions.says(answers.GREETING),
    ),
)
"""Tried in order; the first phrase that fits the whole request decides."""
