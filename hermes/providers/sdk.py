"""The official SDKs as another transport (`transport: sdk`), for those who prefer their wire code.

They are imported when the first client is made, never before.
"""

from __future__ import annotations

import importlib
import threading
from types import ModuleType
from typing import Any

from hermes.core.errors import ProviderError
from hermes.providers.anthropic_blocks import API_MODE as ANTHROPIC_MODE
from hermes.providers.endpoint import Endpoint


class SdkClients:
    """One SDK client per endpoint, shared by all threads. Closed by whoever made it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clients: dict[tuple[Any, ...], Any] = {}

    def client(self, endpoint: Endpoint, *, thinks: bool = False) -> Any:
        """`openai.OpenAI` or `anthropic.Anthropic`, as the api mode asks for.

        Its patience is that with a model that thinks, or with one that does not.
        """
        patience = endpoint.longest_silence if thinks else endpoint.stale_timeout
        key = (
            patience,
            endpoint.base_url,
            endpoint.api_key,
            endpoint.api_mode,
            tuple(sorted(endpoint.headers.items())),
        )
        with self._lock:
            if key not in self._clients:
                self._clients[key] = _build(endpoint, patience)
            return self._clients[key]

    def close(self) -> None:
        with self._lock:
            clients = list(self._clients.values())
            self._clients.clear()
        for client in clients:
            client.close()


def _build(endpoint: Endpoint, patience: float) -> Any:
    is_anthropic = endpoint.api_mode == ANTHROPIC_MODE
    sdk = _sdk("anthropic" if is_anthropic else "openai")
    build = sdk.Anthropic if is_anthropic else sdk.OpenAI
    return build(
        # Without a key the SDKs look for one in the environment, which may belong to another
        # provider; a word that is no key prevents that.
        api_key=endpoint.api_key or "none",
        base_url=endpoint.base_url,
        default_headers=dict(endpoint.headers),
        timeout=sdk.Timeout(patience, connect=endpoint.connect_timeout),
        # The agent retries, and knows what was already shown.
        max_retries=0,
    )


def _sdk(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ProviderError(
            f"transport: sdk needs the {name} package; "
            "install it with: pip install 'hermes-gateway[sdk]'",
            code="sdk_missing",
        ) from error
