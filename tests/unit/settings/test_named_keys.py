"""Several keys, each under its name."""

from __future__ import annotations

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.api_server import as_extra, listener_from
from hermes.settings.loading import SettingsSource, load_settings
from hermes.settings.model import ListenerSettings, NamedKey
from hermes.settings.named_keys import limit_per_owner
from tests.unit.settings.conftest import WriteConfig

TWO = """
server:
  key: hunter2-main
  keys:
    laptop: {key: hunter2-laptop}
    build-server: {key_env: BUILD_KEY, max_concurrent: 2}
"""
KEYS = (
    NamedKey(name="laptop", key="hunter2-laptop"),
    NamedKey(name="build-server", key="hunter2-build", max_concurrent=2),
)


def test_keys_are_read_with_those_that_variables_hold(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config(TWO)
    settings = load_settings(environ=environ | {"BUILD_KEY": "hunter2-build"})

    assert settings.listener.keys == KEYS
    assert settings.listener.requires_key
    assert settings.secrets == {"hunter2-main", "hunter2-laptop", "hunter2-build"}
    assert "hunter2" not in repr(settings)


def test_named_keys_alone_are_keys_enough() -> None:
    assert ListenerSettings(keys=KEYS).requires_key
    assert not ListenerSettings().requires_key


def test_a_key_that_changes_in_its_variable_is_noticed(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config(TWO)
    environ["BUILD_KEY"] = "hunter2-build"
    source = SettingsSource(environ)
    assert source.current().listener.keys == KEYS
    environ["BUILD_KEY"] = "hunter2-next"
    assert source.current().listener.keys[1].key == "hunter2-next"


def test_keys_survive_the_way_to_an_embedded_server() -> None:
    listener = ListenerSettings(key="hunter2-main", keys=KEYS)
    assert listener_from(as_extra(listener), {}) == listener


def test_a_file_with_keys_that_others_can_read_is_a_warning(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("server:\n  keys:\n    laptop: {key: hunter2-laptop}\n").chmod(0o644)
    assert "holds a key" in load_settings(environ=environ).warnings[0]


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ("[hunter2]", "server.keys: found a secret value; allowed: a section with a name"),
        ("{Laptop: {key: hunter2}}", "found a name that no key can have; allowed: names of up to"),
        ("{hunter2 x: {key: k}}", "found a name that no key can have"),
        ("{7: {key: hunter2}}", "found a name that no key can have"),
        ("{default: {key: hunter2}}", "but not default or local"),
        ("{local: {key: hunter2}}", "but not default or local"),
        ("{laptop: hunter2}", "server.keys.laptop: found a value of type str; allowed: a section"),
        ("{laptop: {}}", "server.keys.laptop: found nothing; allowed: key, or key_env"),
        ("{laptop: {key: hunter2, key_env: K}}", "found both key and key_env; allowed: one of"),
        ("{laptop: {key_env: HUNTER2}}", "laptop.key_env: found a variable that is not set"),
        ("{laptop: {key: hunter2, limit: 5}}", "laptop: found an unknown key; allowed: key, key_"),
        ("{laptop: {key: 5}}", "server.keys.laptop.key: found a secret value"),
        ("{laptop: {key: k, max_concurrent: -1}}", "laptop.max_concurrent: found -1; allowed: a"),
        ("{a: {key: hunter2}, b: {key: hunter2}}", "found the same key as server.keys.a; allowed"),
        ("{a: {key: main-key}}", "server.keys.a: found the same key as server.key; allowed: a key"),
    ],
)
def test_a_wrong_key_is_refused_without_being_shown(
    environ: dict[str, str], write_config: WriteConfig, keys: str, complaint: str
) -> None:
    write_config(f"server:\n  key: main-key\n  keys: {keys}\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert complaint in str(caught.value)
    assert "hunter2" not in str(caught.value).lower()


def test_a_key_without_a_limit_of_its_own_has_the_general_one() -> None:
    keys = (*KEYS, NamedKey(name="root", key="hunter2-root", max_concurrent=0))
    limit = limit_per_owner(keys, 5)
    names = ("laptop", "build-server", "root", "default")
    assert [limit(name) for name in names] == [5, 2, 0, 5]
