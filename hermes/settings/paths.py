"""Where things lie: the home folder and the files in it. Knows names, not contents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hermes.core.errors import SettingsError
from hermes.settings.words import Words


def home(environ: Mapping[str, str]) -> Path:
    """The folder that holds everything: `HERMES_HOME`, or `~/.hermes`. It need not exist yet."""
    users_home = Path(environ.get("HOME") or Path.home())
    wanted = environ.get("HERMES_HOME", "").strip()
    if not wanted:
        return users_home / ".hermes"
    if wanted == "~" or wanted.startswith("~/"):
        return users_home / wanted[2:]
    return Path(wanted).absolute()


def config_file(home: Path) -> Path:
    return home / "config.yaml"


def state_db(home: Path) -> Path:
    return home / "state.db"


def response_db(home: Path) -> Path:
    return home / "responses.db"


def files_folder(home: Path) -> Path:
    return home / "files"


def chat_db(home: Path) -> Path:
    """Chat completions that clients asked to be kept."""
    return home / "chats.db"


def run_db(home: Path) -> Path:
    """Runs, their events, and what was asked and approved in them."""
    return home / "runs.db"


def shadow_db(home: Path) -> Path:
    """What files were before tools changed them."""
    return home / "shadow" / "shadow.db"


def spending_db(home: Path) -> Path:
    """What was used: by each key, on each day, in each session."""
    return home / "spending.db"


def memory_db(home: Path) -> Path:
    """What the agent remembers."""
    return home / "memory.db"


def status_file(home: Path) -> Path:
    return home / "gateway_state.json"


def lock_file(home: Path) -> Path:
    return home / "gateway.lock"


def outputs_folder(home: Path) -> Path:
    """What was too long for the model to read at once."""
    return home / "outputs"


def commands_folder(home: Path) -> Path:
    """A note for each command that runs, so that none is forgotten when the process dies."""
    return home / "commands"


def cli_folder(home: Path) -> Path:
    """The folders of CLI agents: of jobs that run, and of conversations that go on."""
    return home / "cli"


def cli_db(home: Path) -> Path:
    """Which conversation of a CLI agent stands for which session."""
    return home / "cli.db"


def default_workspace(home: Path) -> Path:
    return home / "workspace"


def ensure_private_dir(path: Path) -> Path:
    """Make the folder, for its owner only. One that exists keeps the mode its owner gave it."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise SettingsError(str(path), Words("a file"), "a folder, or nothing yet") from None
    except OSError as error:
        raise SettingsError(
            str(path), Words(f"no way to create it ({error.strerror})"), "a writable folder"
        ) from None
    return path


def is_private(path: Path) -> bool:
    """Whether nobody but the owner may read, write or enter."""
    return path.stat().st_mode & 0o077 == 0
