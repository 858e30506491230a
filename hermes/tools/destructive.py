"""Programs that destroy or that change what is not the agent's own, and how to tell from a call.

Reasons are words for a person, and follow "it".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from hermes.tools.shell_calls import Argument, Call, Place

Check = Callable[[Call], str | None]

_AS_ANOTHER = "runs with the rights of another user"
_MACHINE = "stops or restarts the machine"
_DISK = "changes disks or file systems"
_PROCESSES = "ends processes"
_DISCARDS = "throws away changes that are not committed"
_REMOTE = "overwrites or deletes what others have on the remote"
_CONTAINERS = "stops or deletes containers, images or their data"
_SERVICES = "stops or changes services of the machine"
_USERS = "changes the users of the machine"
_SOFTWARE = "removes software from the machine"
_DATA = "deletes data in a database"

ALWAYS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("sudo", "doas", "su", "pkexec", "runuser", "chroot"), _AS_ANOTHER),
        **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff", "telinit"), _MACHINE),
        **dict.fromkeys(
            ("mke2fs", "mkswap", "wipefs", "sgdisk", "mount", "umount", "swapoff"), _DISK
        ),
        **dict.fromkeys(("pkill", "killall", "skill", "xkill"), _PROCESSES),
        **dict.fromkeys(("useradd", "userdel", "usermod", "groupdel", "passwd", "chsh"), _USERS),
        "rimraf": "deletes files recursively",
        "shred": "overwrites files beyond recovery",
        "truncate": "cuts files short",
        "dropdb": _DATA,
    }
)


def danger_of_program(call: Call) -> str | None:
    """What is dangerous about a call, or None."""
    if call.program in ALWAYS:
        return ALWAYS[call.program]
    if call.program.startswith("mkfs"):
        return _DISK
    check = CHECKS.get(call.program)
    return None if check is None else check(call)


# --- files ----------------------------------------------------------------------------------------


def _rm(call: Call) -> str | None:
    if call.has("-r", "-R", "--recursive"):
        return "deletes files recursively"
    if call.has("-f", "--force"):
        return "deletes files without asking"
    files = call.operands()
    if any(file.is_pattern or not file.is_known for file in files):
        return "deletes files that are only known when it runs"
    return _deletes_outside(call, files)


def _rmdir(call: Call) -> str | None:
    if call.has("-p", "--parents"):
        return "deletes folders together with their parents"
    return _deletes_outside(call, call.operands())


def _unlink(call: Call) -> str | None:
    return _deletes_outside(call, call.operands())


def _deletes_outside(call: Call, files: Sequence[Argument]) -> str | None:
    is_inside = all(call.where.place(file) is Place.INSIDE for file in files)
    return None if is_inside else "deletes outside the workspace"


def _rights(call: Call) -> str | None:
    if call.has("-R", "--recursive"):
        return "changes the rights of a whole folder"
    operands = call.operands()
    files = operands[1:] or operands  # `chmod -x file` has its mode among the options
    is_inside = all(call.where.place(file) is Place.INSIDE for file in files)
    return None if is_inside else "changes rights outside the workspace"


def _dd(call: Call) -> str | None:
    for argument in call.arguments:
        if argument.text.startswith("of="):
            target = Argument(text=argument.text[3:], is_known=argument.is_known)
            if call.where.place(target) is not Place.NOWHERE:
                return "overwrites a file or a disk byte by byte"
    return None


def _mv(call: Call) -> str | None:
    into = call.value_of("-t", "--target-directory")
    paths = [*call.operands("-t", "-S"), *([into] if into else [])]
    if any(call.where.place(path) is Place.NOWHERE for path in paths):
        return "moves files to where they are lost"
    return call.where.danger_of_writing(paths)


def _cp(call: Call) -> str | None:
    into = call.value_of("-t", "--target-directory")
    return call.where.danger_of_writing([into] if into else call.operands("-m", "-o", "-g")[-1:])


def _rsync(call: Call) -> str | None:
    if any(option.startswith(("--delete", "--remove-source")) for option in call.options()):
        return "deletes files that are missing on the other side"
    return _scp(call)


def _scp(call: Call) -> str | None:
    target = call.operands("-e", "--rsh", "--exclude", "--include", "-P", "-i")[-1:]
    if target and ":" in target[0].text.partition("/")[0]:
        return "writes to another machine"
    return call.where.danger_of_writing(target)


def _ln(call: Call) -> str | None:
    operands = call.operands("-t", "-S")
    return call.where.danger_of_writing(operands[-1:]) if len(operands) > 1 else None


def _all_operands(call: Call) -> str | None:
    return call.where.danger_of_writing(call.operands("-m", "--mode", "-d", "-t", "-r"))


def _sed(call: Call) -> str | None:
    if not any(each.startswith(("-i", "--in-place")) for each in call.options()):
        return None
    has_script = call.has("-e", "--expression", "-f", "--file")
    files = call.operands("-e", "-f", "--expression", "--file")
    return call.where.danger_of_writing(files if has_script else files[1:])


def _tar(call: Call) -> str | None:
    first = call.arguments[0].text if call.arguments else ""
    letters = first if not first.startswith("-") else "".join(call.options())
    if "x" in letters or "--extract" in letters or "--get" in letters:
        into = call.value_of("-C", "--directory")
        return call.where.danger_of_writing([into] if into else [])
    if "c" in letters:
        files = [call.value_of("-f", "--file") or _after(call, first)]
        return call.where.danger_of_writing([file for file in files if file])
    return None


def _after(call: Call, first: str) -> Argument | None:
    """The archive in the old way of writing it: `tar czf archive …`."""
    is_old = bool(first) and not first.startswith("-") and "f" in first
    return call.arguments[1] if is_old and len(call.arguments) > 1 else None


def _writes(*options: str) -> Check:
    """A program that writes where one of these options says."""

    def check(call: Call) -> str | None:
        target = call.value_of(*options)
        if target is None or target.text == "-":
            return None
        return call.where.danger_of_writing([target])

    return check


# --- version control ------------------------------------------------------------------------------


def _git(call: Call) -> str | None:
    operands = call.operands("-C", "-c", "--git-dir", "--work-tree")
    settings = call.value_of("-c")
    if settings is not None and "!" in settings.text:
        return "runs a command from a setting of git"
    if not operands:
        return None
    verb = operands[0].text
    check = _GIT.get(verb)
    return None if check is None else check(call, operands[1:])


GitCheck = Callable[[Call, Sequence[Argument]], str | None]


def _if(reason: str, *options: str) -> GitCheck:
    return lambda call, _operands: reason if call.has(*options) else None


def _if_first(reason: str, *verbs: str) -> GitCheck:
    return lambda _call, operands: reason if operands and operands[0].text in verbs else None


def _push(call: Call, operands: Sequence[Argument]) -> str | None:
    forced = ("-f", "--force", "--force-with-lease", "--mirror", "-d", "--delete", "--prune")
    if call.has(*forced) or any(each.text.startswith(("+", ":")) for each in operands):
        return _REMOTE
    return None


def _checkout(call: Call, operands: Sequence[Argument]) -> str | None:
    has_paths = any(each.text == "--" for each in call.arguments)
    is_all = any(each.text == "." for each in operands)
    return _DISCARDS if has_paths or is_all or call.has("-f", "--force") else None


def _restore(call: Call, _operands: Sequence[Argument]) -> str | None:
    is_index_only = call.has("-S", "--staged") and not call.has("-W", "--worktree")
    return None if is_index_only else _DISCARDS


def _clean(call: Call, _operands: Sequence[Argument]) -> str | None:
    is_rehearsal = call.has("-n", "--dry-run")
    return "deletes files that git does not know" if not is_rehearsal else None


def _branch(call: Call, _operands: Sequence[Argument]) -> str | None:
    forces = call.has("-d", "--delete") and call.has("-f", "--force")
    return "deletes a branch" if call.has("-D") or forces else None


def _git_rm(call: Call, _operands: Sequence[Argument]) -> str | None:
    is_kept = call.has("--cached", "-n", "--dry-run")
    return "deletes files" if call.has("-r", "-f", "--force") and not is_kept else None


_HISTORY = "rewrites or deletes history"
_GIT: Mapping[str, GitCheck] = MappingProxyType(
    {
        "push": _push,
        "reset": _if(_DISCARDS, "--hard", "--merge"),
        "checkout": _checkout,
        "restore": _restore,
        "switch": _if(_DISCARDS, "-f", "--force", "--discard-changes"),
        "clean": _clean,
        "branch": _branch,
        "tag": _if("deletes a tag", "-d", "--delete"),
        "stash": _if_first("deletes kept changes", "drop", "clear"),
        "rm": _git_rm,
        "reflog": _if_first(_HISTORY, "expire", "delete"),
        "filter-branch": lambda _call, _operands: _HISTORY,
        "filter-repo": lambda _call, _operands: _HISTORY,
        "update-ref": _if(_HISTORY, "-d"),
        "gc": _if(_HISTORY, "--prune"),
        "worktree": _if_first("deletes a working tree", "remove"),
    }
)


# --- processes and services -----------------------------------------------------------------------


def _kill(call: Call) -> str | None:
    words = [argument.text for argument in call.arguments]
    is_question = words[:1] in (["-l"], ["-L"], ["-0"]) or words[:2] == ["-s", "0"]
    return None if is_question else _PROCESSES


_SCOPES = ("-H", "--context", "-n", "--namespace", "-f", "--file", "-p", "--kubeconfig")


def _verbs(reason: str, *verbs: str) -> Check:
    """A program whose dangerous verbs are its first words."""
    wanted = frozenset(verbs)

    def check(call: Call) -> str | None:
        words = [operand.text for operand in call.operands(*_SCOPES)]
        first, both = "".join(words[:1]), " ".join(words[:2])
        return reason if first in wanted or both in wanted else None

    return check


def _service(call: Call) -> str | None:
    return None if [each.text for each in call.operands()][1:] == ["status"] else _SERVICES


def _crontab(call: Call) -> str | None:
    return None if call.has("-l") else "replaces or deletes the plan of regular jobs"


def _fdisk(call: Call) -> str | None:
    return None if call.has("-l", "--list") or not call.operands() else _DISK


# --- databases ------------------------------------------------------------------------------------


def _sql(call: Call) -> str | None:
    said = " ".join(each.text for each in (*call.arguments, *call.given)).lower().split()
    pairs = set(pairwise(said))
    drops = any(
        first.strip("\"';(") in ("drop", "truncate") or (first, second) == ("delete", "from")
        for first, second in pairs
    )
    return _DATA if drops else None


def _redis(call: Call) -> str | None:
    return _DATA if {each.text.lower() for each in call.operands()} & _FLUSHES else None


_FLUSHES = {"flushall", "flushdb", "del", "unlink"}

_CONTAINER_VERBS = (
    "rm", "rmi", "kill", "stop", "prune", "system prune", "volume rm", "volume prune", "image rm",
    "image prune", "container rm", "container prune", "container kill", "container stop",
    "network rm", "network prune", "builder prune", "compose down", "compose rm", "compose kill",
)  # fmt: skip
_SERVICE_VERBS = (
    "stop", "restart", "disable", "mask", "kill", "reboot", "poweroff", "halt", "suspend",
    "hibernate", "isolate", "rescue", "emergency", "revert", "set-default",
)  # fmt: skip

CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "rm": _rm,
        "rmdir": _rmdir,
        "unlink": _unlink,
        **dict.fromkeys(("chmod", "chown", "chgrp"), _rights),
        "dd": _dd,
        "mv": _mv,
        **dict.fromkeys(("cp", "install"), _cp),
        "rsync": _rsync,
        "scp": _scp,
        "ln": _ln,
        **dict.fromkeys(("tee", "touch", "mkdir", "mkfifo"), _all_operands),
        **dict.fromkeys(("sed", "gsed"), _sed),
        "tar": _tar,
        "unzip": _writes("-d"),
        "curl": _writes("-o", "--output", "--output-dir"),
        "wget": _writes("-O", "--output-document", "-P", "--directory-prefix"),
        "git": _git,
        "kill": _kill,
        "systemctl": _verbs(_SERVICES, *_SERVICE_VERBS),
        "service": _service,
        "crontab": _crontab,
        **dict.fromkeys(("fdisk", "parted", "sfdisk"), _fdisk),
        **dict.fromkeys(("docker", "podman"), _verbs(_CONTAINERS, *_CONTAINER_VERBS)),
        "docker-compose": _verbs(_CONTAINERS, "down", "rm", "kill"),
        **dict.fromkeys(
            ("apt", "apt-get", "dnf", "yum", "zypper", "brew"),
            _verbs(_SOFTWARE, "remove", "purge", "autoremove", "uninstall", "erase"),
        ),
        "kubectl": _verbs("deletes resources of a cluster", "delete", "drain"),
        "helm": _verbs("deletes resources of a cluster", "uninstall", "delete"),
        "terraform": _verbs("destroys or changes infrastructure", "destroy", "apply"),
        **dict.fromkeys(("sqlite3", "psql", "mysql", "mariadb", "duckdb"), _sql),
        "redis-cli": _redis,
        "init": lambda call: _MACHINE if call.operands() else None,
    }
)
