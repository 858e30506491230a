"""Exported sessions as files: written for their owner's eyes only, and read with care."""

from __future__ import annotations

import json
from pathlib import Path

from hermes.core.errors import ApiError, HermesError
from hermes.core.sessions import GivenMessage, SessionHead
from hermes.store.files import open_private
from hermes.wire.session_transfer import parse_import


def save_document(path: Path, document: str) -> None:
    try:
        with open_private(path) as file:
            file.write(document.encode() + b"\n")
    except OSError as error:
        raise HermesError(
            f"{path} cannot be written ({error.strerror}); choose another file."
        ) from error


def read_document(raw: bytes) -> tuple[str, SessionHead, list[GivenMessage]]:
    """Like the server reads it, but anything that was ever stored here is taken back."""
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise HermesError("This is no JSON, so it is no exported session.") from error
    if not isinstance(document, dict):
        raise HermesError("This is no exported session; `hermes sessions export` writes one.")
    try:
        return parse_import(document)
    except ApiError as error:
        raise HermesError(error.message) from error
