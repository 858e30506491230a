"""The tree of errors is drawn as it grows, and every error says what a caller needs."""

from __future__ import annotations

import inspect
import re

import pytest

from hermes.core import errors
from hermes.core.errors import ApiError, HermesError, InvalidRequest, ProviderError, SettingsError

_LINE = re.compile(r"^    (?P<branch>[│├└─ ]*)(?P<name>[A-Z]\w+)(?: +(?P<status>\d{3}) )?")


def drawn() -> list[tuple[str, str | None, str | None]]:
    """Name, parent and status of every class in the drawing."""
    ancestors: list[str] = []
    found = []
    for match in filter(None, map(_LINE.match, (errors.__doc__ or "").splitlines())):
        depth = len(match["branch"]) // 4
        parent = ancestors[depth - 1] if depth else None
        ancestors[depth:] = [match["name"]]
        found.append((match["name"], parent, match["status"]))
    return found


def real() -> list[tuple[str, str | None, str | None]]:
    classes = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    return [_described(kind) for kind in classes if issubclass(kind, Exception)]


def _described(kind: type[Exception]) -> tuple[str, str | None, str | None]:
    parent = None if kind is HermesError else kind.__mro__[1].__name__
    is_answer = issubclass(kind, ApiError) and kind is not ApiError
    return kind.__name__, parent, str(getattr(kind, "status", "")) if is_answer else None


def test_the_drawn_tree_is_the_real_one() -> None:
    assert sorted(drawn()) == sorted(real())


@pytest.mark.parametrize("kind", ApiError.__subclasses__())
def test_every_answer_has_a_code_of_its_own_unless_told_another(kind: type[ApiError]) -> None:
    assert kind("Do this.").code == kind.default_code != ApiError.default_code
    assert kind("Do this.", code="special").code == "special"


def test_an_api_error_does_not_share_its_headers() -> None:
    headers = {"Retry-After": "5"}
    error = InvalidRequest("No.", headers=headers)
    headers["X"] = "later"
    assert error.headers == {"Retry-After": "5"}


def test_a_settings_error_says_what_was_found_and_what_is_allowed() -> None:
    assert str(SettingsError("port", "x", "a number")) == "port: found 'x'; allowed: a number"


def test_a_provider_error_is_shown_by_its_message_alone() -> None:
    error = ProviderError("Refused.", status_code=429, code="rate_limited")
    assert (str(error), error.status_code, error.code) == ("Refused.", 429, "rate_limited")
