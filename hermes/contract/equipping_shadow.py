"""The shadow store of a process: what files were before tools changed them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hermes.settings.model import Settings
from hermes.settings.paths import shadow_db
from hermes.shadow.scanning import Limits
from hermes.shadow.shadow import Premises, Shadow
from hermes.store.shadow import SqliteShadow
from hermes.store.shadow_retention import ShadowRetention

_DAY = 86_400.0


def shadow_for(settings: Callable[[], Settings]) -> Shadow:
    """Opened when it is used for the first time."""
    return Shadow(lambda: _premises(settings()))


def _premises(settings: Settings) -> Premises:
    receipts = settings.receipts
    retention = ShadowRetention(
        keep_seconds=receipts.keep_days * _DAY, max_bytes=receipts.max_bytes
    )
    return Premises(
        open_store=partial(SqliteShadow, shadow_db(settings.home), retention),
        limits=Limits(
            max_files=receipts.max_files,
            max_bytes=receipts.max_workspace_bytes,
            max_file_bytes=receipts.max_file_bytes,
        ),
        is_enabled=receipts.enabled,
        excluded=frozenset({str(settings.home.resolve())}),
        has_store=shadow_db(settings.home).exists,
    )
