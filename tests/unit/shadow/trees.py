"""Trees of files, as values: drawn at random, planted in a folder, and read back from it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from hermes.core.shadow import Doer
from hermes.shadow.scanning import Limits
from hermes.shadow.shadow import Premises, Shadow
from hermes.store.shadow import SqliteShadow

DOER = Doer("run_1", "call_1")


@dataclass(frozen=True, slots=True)
class File:
    content: bytes
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class Link:
    target: str


@dataclass(frozen=True, slots=True)
class Folder:
    mode: int = 0o755


Node = File | Link | Folder
Tree = Mapping[str, Node]
"""By path, relative to the root."""

names = st.sampled_from(["a", "b", "c.txt", "d e", "ü"])
leaves = st.one_of(
    st.builds(File, st.binary(max_size=200), st.sampled_from([0o600, 0o644, 0o755, 0o400])),
    st.builds(Link, st.sampled_from(["a", "../a", "/nowhere", "b/c.txt"])),
)
folder_modes = st.sampled_from([0o700, 0o755, 0o750])


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Node]:
    """Files at up to three levels; the folders they need, and some empty ones."""
    tree: dict[str, Node] = {}
    for _ in range(draw(st.integers(0, 8))):
        parts = draw(st.lists(names, min_size=1, max_size=3))
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        if any(isinstance(tree.get(path), File | Link) for path in above):
            continue
        for path in above:
            tree.setdefault(path, Folder(draw(folder_modes)))
        tree.setdefault("/".join(parts), draw(leaves | st.builds(Folder, folder_modes)))
    return tree


def plant(root: Path, tree: Tree) -> None:
    """Make the folder hold exactly this."""
    for each in root.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
    for path in sorted(tree):
        place, node = root / path, tree[path]
        if isinstance(node, Folder):
            place.mkdir()
            place.chmod(node.mode)
        elif isinstance(node, Link):
            place.symlink_to(node.target)
        else:
            place.write_bytes(node.content)
            place.chmod(node.mode)


def grown(root: Path) -> dict[str, Node]:
    """What is there, byte for byte and mode for mode."""
    found: dict[str, Node] = {}
    for place in sorted(root.rglob("*")):
        mode = stat.S_IMODE(place.lstat().st_mode)
        path = place.relative_to(root).as_posix()
        if place.is_symlink():
            found[path] = Link(os.readlink(place))  # noqa: PTH115  (as text, unresolved)
        elif place.is_dir():
            found[path] = Folder(mode)
        else:
            found[path] = File(place.read_bytes(), mode)
    return found


def shadow_at(path: Path | None = None, **limits: float) -> Shadow:
    """One with a store in this file, or in memory."""
    return Shadow(
        lambda: Premises(
            open_store=lambda: SqliteShadow(path),
            limits=Limits(**{"seconds": 60.0, **limits}),  # type: ignore[arg-type]
        )
    )
