"""Decides which provider is asked, with which key. The rules that keep a key where it belongs:

* what config.yaml says of an endpoint (URL, key, headers, model) holds for the provider it names;
  it is left aside when the command line or the environment names another one;
* OPENAI_BASE_URL names an endpoint, so it wins over the file's. A key alone does not: a vendor's
  key variable fills in what config.yaml leaves open, for that vendor's endpoint only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hermes.core.errors import SettingsError
from hermes.settings.config_yaml import PREFIX
from hermes.settings.found import Found, Layer
from hermes.settings.kinds import KEY, URL, Kind, read_as
from hermes.settings.known_providers import (
    ANTHROPIC,
    CUSTOM,
    DEMO,
    KNOWN,
    OPENAI,
    OPENROUTER,
    KnownProvider,
    provider_at,
)
from hermes.settings.model import ProviderSettings
from hermes.settings.words import NOTHING

BOUND_TO_PROVIDER = (
    "provider",
    "model",
    "base_url",
    "api_key",
    "api_keys",
    "api_mode",
    "headers",
    "context_window",
)
"""Fields whose value and source only this choice knows: what it left aside does not count."""

_NAMES = ", ".join(KNOWN)
_AT_THE_SAME_PLACE = (
    "model",
    "api_key",
    "api_keys",
    "key_strategy",
    "api_mode",
    "headers",
    "context_window",
)
_TUNING = (
    "transport",
    "headers",
    "key_strategy",
    "stale_seconds",
    "reasoning_stale_seconds",
    "context_window",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    settings: ProviderSettings
    sources: Mapping[str, str]
    """Where provider, model, base_url and api_key came from, as far as they are not defaults."""
    warnings: tuple[str, ...] = ()


def choose(said: Layer, in_file: Layer, environ: Mapping[str, str]) -> Choice:
    """The provider of the agent: `said` is the command line over the environment."""
    wish = {**_file_part(said, in_file, environ), **said}
    return _Chooser("agent", wish, environ).choose()


def choose_fallback(section: str, wish: Layer, first: Choice, environ: Mapping[str, str]) -> Choice:
    """A provider for when the one before it fails. It must differ from the first in something."""
    if f"{section}.model" not in wish and not _has_endpoint(section, wish):
        raise SettingsError(f"{PREFIX}{section}.provider", NOTHING, _NAMES)
    return choose_alias(section, wish, first, environ)


def choose_alias(section: str, wish: Layer, first: Choice, environ: Mapping[str, str]) -> Choice:
    """Another model than the first provider's; without an endpoint of its own it is there too."""
    if not _has_endpoint(section, wish):
        return _another_model(section, wish, first)
    choice = _Chooser(section, wish, environ).choose()
    tuned = replace(
        choice.settings,
        transport=first.settings.transport,
        stale_seconds=first.settings.stale_seconds,
        reasoning_stale_seconds=first.settings.reasoning_stale_seconds,
    )
    return replace(choice, settings=tuned)


def _has_endpoint(section: str, wish: Layer) -> bool:
    return bool(wish.keys() & {f"{section}.provider", f"{section}.base_url"})


def _another_model(section: str, wish: Layer, first: Choice) -> Choice:
    taken = [field for field in _AT_THE_SAME_PLACE if f"{section}.{field}" in wish]
    if taken and first.settings.provider == DEMO.name:
        # The demo model has no sisters: this can only be meant for somebody else.
        raise SettingsError(f"{PREFIX}{section}.provider", NOTHING, _NAMES)
    changes = {field: wish[f"{section}.{field}"].value for field in taken}
    return Choice(
        # Another model has another window.
        settings=replace(
            first.settings,
            **({"context_window": None} if "model" in taken else {}) | _one_pool(changes),
        ),
        sources={f"{section}.{field}": wish[f"{section}.{field}"].source for field in taken},
    )


def _one_pool(changes: dict[str, Any]) -> dict[str, Any]:
    """Whoever has a key or keys of its own has nothing of the first provider's."""
    if "api_keys" in changes:
        return {**changes, "api_key": changes["api_keys"][0]}
    return {**changes, "api_keys": ()} if "api_key" in changes else changes


def _file_part(said: Layer, in_file: Layer, environ: Mapping[str, str]) -> Layer:
    """The file's wishes, without those that hold for another endpoint than the one said outside."""
    is_elsewhere = _differs("provider", said, in_file) or _differs("base_url", said, in_file)
    if not is_elsewhere and not _points_elsewhere(said, in_file, environ):
        return in_file
    foreign = {f"agent.{field}" for field in BOUND_TO_PROVIDER}
    return {name: found for name, found in in_file.items() if name not in foreign}


def _differs(field: str, said: Layer, in_file: Layer) -> bool:
    """Whether the file describes an endpoint, and the command line or environment another one."""
    named = said.get(f"agent.{field}")
    described = _endpoint_in(in_file)
    return named is not None and bool(described) and named.value != described.get(field)


def _points_elsewhere(said: Layer, in_file: Layer, environ: Mapping[str, str]) -> bool:
    """Whether OPENAI_BASE_URL names another endpoint than the file does."""
    url = environ.get(OPENAI.base_url_variable, "").strip()
    described = _endpoint_in(in_file)
    if not url or not described or "agent.provider" in said:
        return False
    return url.rstrip("/") != described.get("base_url", "").rstrip("/")


def _endpoint_in(in_file: Layer) -> dict[str, str]:
    """Provider and base_url as the file gives them; the URL alone tells the provider too."""
    given = {
        field: str(in_file[f"agent.{field}"].value)
        for field in ("provider", "base_url")
        if f"agent.{field}" in in_file
    }
    if "base_url" in given:
        given.setdefault("provider", provider_at(given["base_url"]).name)
    return given


class _Chooser:
    """One decision; collects where its parts came from."""

    def __init__(self, section: str, wish: Layer, environ: Mapping[str, str]) -> None:
        self._section = section
        self._wish = wish
        self._environ = environ
        self._sources: dict[str, str] = {}

    def choose(self) -> Choice:
        known = self._provider()
        if known is DEMO:
            return self._demo()
        base_url = self._base_url(known)
        keys = self._take("api_keys") or ()
        settings = ProviderSettings(
            provider=known.name,
            base_url=base_url,
            model=self._model(known, base_url),
            api_key=keys[0] if keys else self._api_key(known, base_url),
            api_keys=keys,
            api_mode=self._take("api_mode") or known.api_mode,
            **self._tuning(),
        )
        return Choice(
            settings=settings, sources=self._sources, warnings=self._withheld_key(settings)
        )

    def _tuning(self) -> dict[str, Any]:
        taken = {field: self._take(field) for field in _TUNING}
        return {field: value for field, value in taken.items() if value is not None}

    def _demo(self) -> Choice:
        misplaced = [self._found(field) for field in ("model", "api_key", "api_keys", "base_url")]
        warnings = [
            f"{found.source} has no effect with the built-in demo model: configure a provider, "
            "for example with OPENAI_API_KEY or OPENAI_BASE_URL"
            for found in misplaced
            if found
        ]
        settings = ProviderSettings(provider=DEMO.name, model=DEMO.default_model)
        return Choice(settings=settings, sources=self._sources, warnings=tuple(warnings))

    def _provider(self) -> KnownProvider:
        named = self._take("provider")
        if named:
            return KNOWN[named]
        base_url = self._found("base_url")
        if base_url:
            self._note("provider", base_url.source)
            return provider_at(base_url.value)
        for field in ("api_key", "api_keys"):
            if self._found(field) and not self._url_variable(OPENAI):
                raise SettingsError(
                    self._key("provider"), NOTHING, f"whose key {field} is: {_NAMES}"
                )
        return self._provider_with_variables()

    def _provider_with_variables(self) -> KnownProvider:
        url = self._url_variable(OPENAI)
        if url:
            self._note("provider", OPENAI.base_url_variable)
            known = provider_at(url)
            return known if known is OPENAI else CUSTOM
        for known in (OPENAI, ANTHROPIC, OPENROUTER):
            if self._key_variable(known):
                self._note("provider", known.key_variable)
                return known
        return DEMO

    def _base_url(self, known: KnownProvider) -> str:
        wished = self._take("base_url")
        if wished:
            return str(wished)
        from_variable = self._url_variable(known)
        if from_variable:
            self._note("base_url", known.base_url_variable)
            return from_variable
        if not known.base_url:
            reason = f"the URL of the endpoint, because the provider is {known.name}"
            raise SettingsError(self._key("base_url"), NOTHING, reason)
        return known.base_url

    def _model(self, known: KnownProvider, base_url: str) -> str:
        wished = self._take("model")
        if wished:
            return str(wished)
        if not known.default_model or provider_at(base_url) is not known:
            key = "HERMES_MODEL" if self._section == "agent" else self._key("model")
            raise SettingsError(
                key, NOTHING, f"the name of a model at {base_url}; set {key}, there is no default"
            )
        return known.default_model

    def _api_key(self, known: KnownProvider, base_url: str) -> str | None:
        wished = self._take("api_key")
        if wished:
            return str(wished)
        if self._may_use_variable(known):
            from_variable = self._key_variable(known)
            if from_variable:
                self._note("api_key", known.key_variable)
                return from_variable
        if provider_at(base_url) is not CUSTOM:
            raise SettingsError(
                known.key_variable, NOTHING, f"the API key for {known.name} at {base_url}"
            )
        return None

    def _may_use_variable(self, known: KnownProvider) -> bool:
        """A vendor's key goes to the vendor or where its variables point, not to any URL."""
        return known is not CUSTOM or self._found("base_url") is None

    def _withheld_key(self, settings: ProviderSettings) -> tuple[str, ...]:
        found = self._found("base_url")
        if settings.api_key or not found or not self._key_variable(OPENAI):
            return ()
        holder = self._key("api_key_env").removeprefix(PREFIX)
        return (
            f"{found.source}: OPENAI_API_KEY is not sent to {settings.base_url}; "
            f"write `{holder}: OPENAI_API_KEY` in config.yaml if it should be",
        )

    def _found(self, field: str) -> Found | None:
        return self._wish.get(f"{self._section}.{field}")

    def _take(self, field: str) -> Any:
        found = self._found(field)
        if found is None:
            return None
        self._note(field, found.source)
        return found.value

    def _note(self, field: str, source: str) -> None:
        self._sources[f"{self._section}.{field}"] = source

    def _url_variable(self, known: KnownProvider) -> str:
        return self._variable(known.base_url_variable, URL)

    def _key_variable(self, known: KnownProvider) -> str:
        return self._variable(known.key_variable, KEY)

    def _variable(self, name: str, kind: Kind) -> str:
        text = self._environ.get(name, "").strip() if name else ""
        return str(read_as(kind, text, key=name)) if text else ""

    def _key(self, field: str) -> str:
        return PREFIX + (field if self._section == "agent" else f"{self._section}.{field}")
