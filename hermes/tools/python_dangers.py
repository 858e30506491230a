"""Whether Python code obviously destroys something, runs commands, or writes elsewhere.

Only what can be seen in the code: names are followed through imports, not through everything a
program can do with them. A belt for mistakes, not a sandbox.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from hermes.tools.dangers import UNREADABLE, danger_of
from hermes.tools.shell_calls import Argument, Where

LONGEST = 100_000
_DEEPEST = 3

DELETES = "deletes files"
ENDS = "ends processes"
LATER = "runs a command that is only known when it runs"
CODE_LATER = "runs code that is only known when it runs"

_REASONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("os.remove", "os.unlink", "os.rmdir", "os.removedirs", "os.truncate",
             "shutil.rmtree"),
            DELETES,
        ),
        **dict.fromkeys(("os.kill", "os.killpg"), ENDS),
        **dict.fromkeys(
            ("os.posix_spawn", "os.posix_spawnp", "pty.spawn", "os.startfile",
             *(f"os.exec{kind}" for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
             *(f"os.spawn{kind}" for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe"))),
            LATER,
        ),
    }
)  # fmt: skip
_METHODS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("unlink", "rmdir", "rmtree", "removedirs"), DELETES)
)
_COMMANDS = frozenset(
    {"os.system", "os.popen", "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"}
    | {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen",
                                         "getoutput", "getstatusoutput")}
)  # fmt: skip
_EVALUATE = frozenset({"exec", "eval", "builtins.exec", "builtins.eval"})
_IMPORT = frozenset({"__import__", "importlib.import_module"})
_MODULES = frozenset({"os", "shutil", "subprocess"})
_WRITES = frozenset({"write_text", "write_bytes", "touch", "mkdir"})
_PATHS = frozenset({"pathlib.Path", "pathlib.PosixPath"})


def danger_of_code(code: str, folder: Path, root: Path) -> str | None:
    """What is dangerous about the code, in words that follow "it"; None: nothing is known.

    `folder` is where it runs, `root` the workspace. May block: where links lead is looked up.
    """
    return _danger(code, Where(folder, root), depth=0)


def _danger(code: str, where: Where, depth: int) -> str | None:
    if len(code) > LONGEST or depth > _DEEPEST:
        return UNREADABLE
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None  # it will not run at all
    except (ValueError, RecursionError, MemoryError):
        return UNREADABLE
    return next(_Look(tree, where, depth).dangers(), None)


class _Look:
    """One look at a program."""

    def __init__(self, tree: ast.Module, where: Where, depth: int) -> None:
        self._nodes = list(ast.walk(tree))
        self._where = where
        self._depth = depth
        self._names = _imported(self._nodes)
        self._judged: set[ast.expr] = set()
        """Functions whose calls were looked at; any other mention of them is a danger."""

    def dangers(self) -> Iterator[str]:
        for node in self._nodes:
            if isinstance(node, ast.Call):
                danger = self._of_call(node)
                if danger:
                    yield danger
        for node in self._nodes:
            if isinstance(node, ast.Attribute | ast.Name) and node not in self._judged:
                danger = self._of_mention(node)
                if danger:
                    yield danger

    def _of_mention(self, node: ast.Attribute | ast.Name) -> str | None:
        dotted = self._dotted(node)
        if dotted in _COMMANDS:
            return LATER
        if dotted in _REASONS:
            return _REASONS[dotted]
        return _METHODS.get(node.attr) if isinstance(node, ast.Attribute) else None

    def _of_call(self, call: ast.Call) -> str | None:
        name = self._dotted(call.func)
        if name in _COMMANDS:
            self._judged.add(call.func)
            return self._of_command(name, call)
        if name in _EVALUATE:
            code = _constant(call.args[0]) if call.args else ""
            return CODE_LATER if code is None else _danger(code, self._where, self._depth + 1)
        if name == "getattr":
            return self._of_getattr(call)
        return self._of_writing(name, call)

    def _of_command(self, name: str, call: ast.Call) -> str | None:
        words = call.args[:1]
        if name == "asyncio.create_subprocess_exec":
            words = call.args
        commands = [_command(word) for word in words]
        if not commands or None in commands:
            return LATER
        folder = self._where.folder or self._where.root
        return danger_of(" ".join(filter(None, commands)), folder, self._where.root)

    def _of_getattr(self, call: ast.Call) -> str | None:
        if len(call.args) < 2:
            return None
        owner, name = self._dotted(call.args[0]), _constant(call.args[1])
        if name is None:
            return CODE_LATER if owner in _MODULES else None
        dotted = f"{owner}.{name}"
        return LATER if dotted in _COMMANDS else _REASONS.get(dotted) or _METHODS.get(name)

    def _of_writing(self, name: str, call: ast.Call) -> str | None:
        """Where a file is written, as far as the path stands in the code."""
        path: str | None = None
        if name in ("open", "io.open") and call.args and _is_for_writing(call):
            path = _constant(call.args[0])
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _WRITES:
            made = call.func.value
            if isinstance(made, ast.Call) and self._dotted(made.func) in _PATHS and made.args:
                path = _constant(made.args[0])
        return None if path is None else self._where.danger_of_writing([Argument(text=path)])

    def _dotted(self, node: ast.expr) -> str:
        """`shutil.rmtree`, whatever the code calls it; empty when that cannot be told."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            owner = self._dotted(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        if isinstance(node, ast.Call) and self._dotted(node.func) in _IMPORT and node.args:
            return _constant(node.args[0]) or ""
        return ""


def _imported(nodes: list[ast.AST]) -> dict[str, str]:
    """What names stand for."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                names[each.asname or each.name] = each.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                names |= _from(node.module, each)
    return names


def _from(module: str, imported: ast.alias) -> dict[str, str]:
    if imported.name != "*":
        return {imported.asname or imported.name: f"{module}.{imported.name}"}
    known = (dotted for dotted in (*_REASONS, *_COMMANDS) if dotted.startswith(f"{module}."))
    return {dotted.rpartition(".")[2]: dotted for dotted in known}


def _constant(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _command(node: ast.expr) -> str | None:
    """A command line, given as text or as a list of words."""
    if not isinstance(node, ast.List | ast.Tuple):
        return _constant(node)
    words = [_constant(each) for each in node.elts]
    return None if None in words else shlex.join(word for word in words if word is not None)


def _is_for_writing(call: ast.Call) -> bool:
    given = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "mode")]
    modes = [_constant(each) for each in given]
    return any(mode is None or not set(mode).isdisjoint("wax+") for mode in modes)
