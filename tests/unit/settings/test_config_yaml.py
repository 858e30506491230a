"""Reading config.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.config_yaml import check_keys, read_config
from hermes.settings.options import OPTIONS
from tests.unit.settings.conftest import WriteConfig


def test_a_missing_file_counts_as_empty(tmp_path: Path) -> None:
    config = read_config(tmp_path / "config.yaml")
    assert dict(config.content) == {}
    assert config.is_private


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "\ufeff"])
def test_an_empty_file_is_no_mistake(text: str, write_config: WriteConfig) -> None:
    assert dict(read_config(write_config(text)).content) == {}


def test_values_are_found_by_dotted_keys(write_config: WriteConfig) -> None:
    config = read_config(write_config("model: m\nagent:\n  max_iterations: 7\n"))
    assert config.value("agent.max_iterations") == 7
    assert config.value("agent.threads") is None
    assert config.value("model.deeper") is None


def test_a_syntax_error_names_file_and_line(write_config: WriteConfig) -> None:
    path = write_config("model: m\nserver:\n  port: [1, 2\n")
    with pytest.raises(SettingsError) as caught:
        read_config(path)
    assert caught.value.key == f"{path}, line 4"
    assert "allowed: valid YAML" in str(caught.value)


@pytest.mark.parametrize("text", ["api_key: *abcd-hunter2\n", "api_key: !hunter2 x\n"])
def test_a_syntax_error_does_not_quote_the_file(text: str, write_config: WriteConfig) -> None:
    with pytest.raises(SettingsError) as caught:
        read_config(write_config(text))
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_key_given_twice_is_refused_with_its_line(write_config: WriteConfig) -> None:
    path = write_config("model: a\nprovider: openai\nmodel: b\n")
    with pytest.raises(SettingsError, match="line 3: found a key twice"):
        read_config(path)


def test_a_merge_may_override_what_it_merges(write_config: WriteConfig) -> None:
    text = "fallback: &f {model: a}\nagent:\n  <<: *f\n  model: b\n"
    assert read_config(write_config(text)).value("agent.model") == "b"


@pytest.mark.parametrize(("text", "found"), [("- a\n- b\n", "a list"), ("hello\n", "type str")])
def test_a_file_that_is_no_mapping_is_refused(
    text: str, found: str, write_config: WriteConfig
) -> None:
    with pytest.raises(SettingsError, match=f"{found}; allowed: a mapping"):
        read_config(write_config(text))


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"a: 2026-99-99\n", b"[" * 1000, b"a: \x00"])
def test_no_content_makes_the_reader_crash(data: bytes, home: Path) -> None:
    path = home / "config.yaml"
    path.write_bytes(data)
    with pytest.raises(SettingsError, match=r"config\.yaml"):
        read_config(path)


def test_a_file_that_cannot_be_read_is_named(home: Path) -> None:
    path = home / "config.yaml"
    path.mkdir()
    with pytest.raises(SettingsError, match=r"config\.yaml: found no way to read it"):
        read_config(path)


def test_a_file_others_can_read_is_noticed(write_config: WriteConfig) -> None:
    path = write_config("model: m\n")
    path.chmod(0o644)
    assert not read_config(path).is_private


@pytest.mark.parametrize(
    ("content", "key", "meant"),
    [
        ({"agent": {"max_iteration": 5}}, "agent.max_iteration", "agent.max_iterations"),
        ({"modell": "x"}, "modell", "model"),
        ({"port": 1}, "port", "server.port"),
        ({"server": {"workspace": "x"}}, "server.workspace", "tools.workspace"),
        (
            {"platforms": {"api_server": {"toolset": []}}},
            "platforms.api_server.toolset",
            "toolsets",
        ),
    ],
)
def test_an_unknown_key_is_refused_with_the_closest_known(
    content: dict[str, object], key: str, meant: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        check_keys(content)
    assert caught.value.key == f"config.yaml: {key}"
    assert "did you mean" in str(caught.value)
    assert f"{meant}?" in str(caught.value)


def test_an_unknown_key_like_no_other_is_answered_with_all_keys() -> None:
    with pytest.raises(SettingsError, match=r"fallback\.model") as caught:
        check_keys({"zzzzqqqq": 1})
    assert "did you mean" not in str(caught.value)


def test_a_section_must_be_a_section() -> None:
    with pytest.raises(SettingsError, match="a section with format, level"):
        check_keys({"log": "debug"})
    check_keys({"log": None})


def test_every_key_of_the_table_is_known() -> None:
    for option in OPTIONS.values():
        if not option.config:
            continue  # only the command line can say it
        content: object = {"X-Any": "1"} if option.config == "headers" else 1
        for part in reversed(option.config.split(".")):
            content = {part: content}
        assert isinstance(content, dict)
        check_keys(content)
