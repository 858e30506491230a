"""Runs the code of the `python` tool in a process of its own, which it limits first.

Not imported: its text is given to the interpreter, so it needs nothing but the standard library.
"""

from __future__ import annotations

import ast
import linecache
import os
import resource
import sys
import traceback
import types

NAME = "<code>"
_MORE_PROCESSES = 256


def main(memory: int, seconds: int, file_size: int) -> None:
    """The code comes through the input, which is empty afterwards."""
    code = sys.stdin.buffer.read().decode()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_FSIZE, file_size)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NPROC, _running_everywhere() + _MORE_PROCESSES)
    _limit(resource.RLIMIT_AS, memory)
    try:
        _run(code)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  (the model's code, which may raise anything)
        # Without this file's own frame, which says nothing about the code.
        inner = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(error.with_traceback(inner and inner.tb_next))
        sys.exit(1)


def _run(code: str) -> None:
    """As a script; the value of an expression at its end is printed, as a notebook does."""
    # What the lines were, for tracebacks.
    linecache.cache[NAME] = (len(code), None, code.splitlines(keepends=True), NAME)
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = [NAME]
    sys.path.insert(0, os.getcwd())  # noqa: PTH109  (a string, as everything else there)
    # Not `ast.parse`, which would show up in the traceback of a mistake in the code.
    tree = compile(code, NAME, "exec", ast.PyCF_ONLY_AST)
    assert isinstance(tree, ast.Module)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NAME, "exec"), module.__dict__)  # noqa: S102  (what this file is for)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), NAME, "eval"), module.__dict__)  # noqa: S307
        if value is not None:
            print(repr(value))  # noqa: T201


def _limit(what: int, most: int) -> None:
    try:
        hard = resource.getrlimit(what)[1]
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (allowed, allowed))
    except (OSError, ValueError):
        pass  # not every system knows every limit


def _running_everywhere() -> int:
    """The limit counts all processes and threads of the user; there are at most so many."""
    try:
        with open("/proc/loadavg") as file:  # noqa: PTH123  (imports as little as it can)
            return int(file.read().split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 4096


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
