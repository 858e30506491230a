"""Programs that run other programs: what they run is what has to be looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from hermes.tools.shell_calls import UNKNOWN, Argument, Call

LATER = "runs a command that is only known when it runs"
_PIPED = "runs whatever it is sent as a program"
_DELETES = "deletes files from a program"

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "rbash"})
INTERPRETERS = frozenset({"python", "pypy", "perl", "ruby", "node", "php", "deno", "bun", "lua"})
AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})

_TELLTALE = (
    "os.remove", "os.unlink", "os.rmdir", "os.removedirs", "rmtree", ".unlink(", ".rmdir(",
    "unlinksync", "rmsync", "rmdirsync", "fs.rm", "fs.unlink", "file.delete", "fileutils.rm",
    "unlink ", "unlink(", "rm -r", "rm -f", "'rm'", '"rm"',
)  # fmt: skip
"""Only what is obvious: what a program does cannot be told from its text."""

Check = Callable[[Call], str | None]


def danger_of_running(call: Call) -> str | None:
    """What is dangerous about what this program runs; None also when it runs nothing."""
    if call.program in SHELLS:
        return _shell(call)
    if call.program.rstrip("0123456789.") in INTERPRETERS:
        return _interpreter(call)
    if call.program in AWKS:
        return _danger_of_code(call.arguments)
    check = RUNNERS.get(call.program)
    return None if check is None else check(call)


def _shell(call: Call) -> str | None:
    script = _script_of(call)
    if script is not None:
        return call.danger_of_script(script)
    return _program_from_outside(call) or _all_given(call) or _script_file(call)


def _script_file(call: Call) -> str | None:
    """A script is looked for among the programs too: `bash rm -r build` may run a real `rm`."""
    rest = _without_options(call.arguments, ("-o", "-O", "--rcfile", "--init-file"))
    return call.danger_of_call(rest) if rest else None


def _script_of(call: Call) -> Argument | None:
    """What follows `-c`, which may stand among other letters: `-lc`, `-cx`."""
    if not call.has("-c"):
        return None
    return next(iter(call.operands("-o", "-O", "--rcfile", "--init-file")), None)


def _all_given(call: Call) -> str | None:
    found = (call.danger_of_script(text) for text in call.given)
    return next((danger for danger in found if danger), None)


def _program_from_outside(call: Call) -> str | None:
    """A program that comes through a pipe instead of from a file."""
    operands = call.operands()
    if any(operand.is_process for operand in operands):
        return _PIPED
    reads = not operands or operands[0].text == "-" or call.has("-s")
    return _PIPED if call.is_fed and reads and not call.has("-m", "--version", "-V") else None


def _source(call: Call) -> str | None:
    return _PIPED if any(operand.is_process for operand in call.arguments) else None


def _interpreter(call: Call) -> str | None:
    has_code = call.has("-c", "-e", "-r", "-p", "-E", "--eval", "--print")
    if not has_code and (danger := _program_from_outside(call)):
        return danger
    return _danger_of_code([*(call.arguments if has_code else ()), *call.given])


def _danger_of_code(code: Sequence[Argument]) -> str | None:
    text = " ".join(each.text for each in code).lower()
    return _DELETES if any(sign in text for sign in _TELLTALE) else None


def _trap(call: Call) -> str | None:
    operands = call.operands()
    return call.danger_of_script(operands[0]) if len(operands) > 1 else None


def _after_options(*with_value: str, skip: int = 0) -> Check:
    """A program that is followed by another one, after its options and `skip` more words."""

    def check(call: Call) -> str | None:
        rest = _without_options(call.arguments, with_value)[skip:]
        return call.danger_of_call(rest) if rest else None

    return check


def _without_options(
    arguments: Sequence[Argument], with_value: Sequence[str]
) -> Sequence[Argument]:
    at = 0
    while at < len(arguments) and arguments[at].text.startswith("-"):
        if arguments[at].text == "--":
            return arguments[at + 1 :]
        at += 2 if arguments[at].text in with_value else 1
    return arguments[at:]


def _env(call: Call) -> str | None:
    script = call.value_of("-S", "--split-string")
    if script is not None:
        return call.danger_of_script(script)
    rest = list(_without_options(call.arguments, ("-u", "--unset", "-C", "--chdir")))
    while rest and "=" in rest[0].text:
        rest.pop(0)
    return call.danger_of_call(rest) if rest else None


def _xargs(call: Call) -> str | None:
    rest = _without_options(call.arguments, _XARGS_OPTIONS)
    replaces = any(each.startswith(("-I", "-i", "--replace")) for each in call.options())
    if not rest:
        return None
    if not replaces:
        return call.danger_of_call([*rest, UNKNOWN])
    return call.danger_of_call([UNKNOWN if "{}" in each.text else each for each in rest])


_XARGS_OPTIONS = (
    "-I", "-n", "-P", "-d", "-L", "-s", "-a", "-E", "--max-args", "--max-procs", "--delimiter",
)  # fmt: skip


def _command(call: Call) -> str | None:
    return None if call.has("-v", "-V") else _after_options()(call)


def _find(call: Call) -> str | None:
    words = [argument.text for argument in call.arguments]
    if "-delete" in words:
        return "deletes every file it finds"
    for option in ("-fprint", "-fprintf", "-fls"):
        target = call.value_of(option)
        if target is not None and (danger := call.where.danger_of_writing([target])):
            return danger
    for at, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            danger = call.danger_of_call(_found_files(call.arguments[at + 1 :]))
            if danger:
                return danger
    return None


def _found_files(arguments: Sequence[Argument]) -> list[Argument]:
    """A command of `find`, with what it finds in place of `{}`."""
    taken: list[Argument] = []
    for argument in arguments:
        if argument.text in (";", "+"):
            break
        taken.append(UNKNOWN if "{}" in argument.text and taken else argument)
    return taken


def _has_shell_run(*with_value: str, skip: int = 0) -> Check:
    """A program that gives the words after its options, and `skip` more, to a shell."""

    def check(call: Call) -> str | None:
        rest = _without_options(call.arguments, with_value)[skip:]
        text = " ".join(argument.text for argument in rest)
        known = all(argument.is_known for argument in rest)
        return call.danger_of_script(Argument(text=text, is_known=known)) if rest else None

    return check


_SSH_OPTIONS = ("-p", "-i", "-o", "-l", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-m", "-S")


def _fork(call: Call) -> str | None:
    script = call.value_of("-c", "--command")
    return call.danger_of_script(script) if script is not None else None


RUNNERS: Mapping[str, Check] = MappingProxyType(
    {
        "eval": _has_shell_run(),
        "trap": _trap,
        **dict.fromkeys(("source", "."), _source),
        "env": _env,
        **dict.fromkeys(("command", "builtin"), _command),
        **dict.fromkeys(("nohup", "setsid", "busybox", "toybox", "unbuffer", "time", "npx", "bunx"),
                        _after_options()),
        "exec": _after_options("-a"),
        "nice": _after_options("-n", "--adjustment"),
        "ionice": _after_options("-c", "-n", "-p"),
        "stdbuf": _after_options("-i", "-o", "-e"),
        "timeout": _after_options("-s", "--signal", "-k", "--kill-after", skip=1),
        "watch": _has_shell_run("-n", "--interval"),
        "flock": _after_options("-w", "--timeout", "-E", skip=1),
        "strace": _after_options("-e", "-o", "-p", "-s"),
        "xargs": _xargs,
        "parallel": _has_shell_run("-j", "--jobs", "-I"),
        "find": _find,
        "ssh": _has_shell_run(*_SSH_OPTIONS, skip=1),
        "script": _fork,
    }
)  # fmt: skip
