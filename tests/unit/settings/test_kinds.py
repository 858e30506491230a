"""What settings accept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import SettingsError
from hermes.settings import kinds
from hermes.settings.kinds import Kind, read_as

PORT = kinds.whole_number(0, 65535)


def refuses(kind: Kind, value: object) -> None:
    with pytest.raises(SettingsError) as caught:
        read_as(kind, value, key="SOME_KEY")
    assert str(caught.value).startswith("SOME_KEY: found ")
    assert str(caught.value).endswith(f"; allowed: {kind.allowed}")


@given(st.integers(0, 65535))
def test_a_number_reads_the_same_from_yaml_and_from_a_variable(number: int) -> None:
    assert PORT.read(number) == PORT.read(f" {number} ") == number


@given(st.one_of(st.integers(max_value=-1), st.integers(min_value=65536)))
def test_a_number_out_of_range_is_refused_with_the_range(number: int) -> None:
    with pytest.raises(SettingsError) as caught:
        read_as(PORT, number, key="PORT")
    assert str(caught.value) == f"PORT: found {number}; allowed: a whole number from 0 to 65535"


@pytest.mark.parametrize("value", [True, 1.0, "1_000", "0x10", "", "\u0661", None, [1], "9" * 5000])
def test_what_only_resembles_a_whole_number_is_refused(value: object) -> None:
    refuses(PORT, value)


@pytest.mark.parametrize("value", ["nan", "inf", "-1", True, None, "soon", 3601])
def test_what_is_no_duration_is_refused(value: object) -> None:
    refuses(kinds.seconds(0, 3600), value)


def test_durations_may_be_fractions() -> None:
    assert kinds.seconds(0, 3600).read("0.5") == kinds.seconds(0, 3600).read(0.5) == 0.5


@pytest.mark.parametrize(("word", "meaning"), [("Yes", True), ("1", True), ("off", False)])
def test_yes_and_no_have_many_spellings(word: str, meaning: bool) -> None:
    assert kinds.YES_OR_NO.read(word) is meaning
    assert kinds.YES_OR_NO.read(meaning) is meaning


def test_a_choice_ignores_case_and_answers_with_the_official_spelling() -> None:
    assert kinds.one_of("DEBUG", "INFO").read("info") == "INFO"
    with pytest.raises(SettingsError, match="found 'loud'; allowed: one of DEBUG, INFO"):
        read_as(kinds.one_of("DEBUG", "INFO"), "loud", key="LEVEL")


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), unique=True))
def test_a_list_and_its_comma_separated_form_read_the_same(names: list[str]) -> None:
    assert kinds.TOOLSETS.read(names) == kinds.TOOLSETS.read(" , ".join(names)) == tuple(names)


def test_repetitions_in_a_list_are_dropped() -> None:
    assert kinds.TOOLSETS.read("files,terminal,files") == ("files", "terminal")


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "*", "null", "app://obsidian.md", "https://a.example"]
)
def test_origins_are_taken_as_browsers_send_them(origin: str) -> None:
    assert kinds.ORIGINS.read(f"{origin}/") == (origin,)


@pytest.mark.parametrize("origin", ["localhost:3000", "http://a.example/path", "http://", 5])
def test_what_no_browser_sends_as_origin_is_refused(origin: object) -> None:
    refuses(kinds.ORIGINS, [origin])


def test_a_url_loses_its_last_slash() -> None:
    assert kinds.URL.read("http://localhost:11434/v1/") == "http://localhost:11434/v1"


@pytest.mark.parametrize("url", ["localhost:1234", "ftp://a.example", "https://", "http://a:b/v1"])
def test_what_is_no_http_url_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="a URL such as"):
        read_as(kinds.URL, url, key="base_url")


def test_a_url_with_a_password_is_refused_without_showing_it() -> None:
    with pytest.raises(SettingsError) as caught:
        read_as(kinds.URL, "https://ada:hunter2@a.example", key="base_url")
    assert "hunter2" not in str(caught.value)
    assert "https://***@a.example" in str(caught.value)


@pytest.mark.parametrize("value", [{"X Y": "1"}, {"X": "a\r\nY: b"}, {"X": 1}, {1: "x"}, "X: 1"])
def test_headers_that_cannot_be_sent_are_refused(value: object) -> None:
    refuses(kinds.HEADERS, value)


def test_a_folder_may_be_given_from_the_users_home() -> None:
    assert kinds.FOLDER.read("~/work") == Path.home() / "work"


@pytest.mark.parametrize("kind", [kinds.KEY, kinds.HEADERS, kinds.VARIABLE])
@given(secret=st.text(alphabet="abcdefghijklmnop0123456789", min_size=12, max_size=40))
def test_a_refused_secret_is_described_not_shown(kind: Kind, secret: str) -> None:
    for value in ([secret], {"x": [secret]}, f"{secret}\n{secret}", [secret, secret]):
        with pytest.raises(SettingsError) as caught:
            read_as(kind, value, key="api_key")
        assert "found a secret value;" in str(caught.value)
        assert secret not in repr(vars(caught.value))
        assert caught.value.__cause__ is None


def test_a_key_that_strayed_into_another_setting_is_masked() -> None:
    with pytest.raises(SettingsError) as caught:
        read_as(PORT, "sk-proj-abcdef123456", key="API_SERVER_PORT")
    assert "abcdef123456" not in str(caught.value)
