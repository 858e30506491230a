"""What is said to git so that no repository chooses the programs it starts."""

from __future__ import annotations

from hermes.backends.git_guards import ALWAYS, Entry, as_variables, guards, read_entries


def beyond_the_usual(*entries: Entry) -> list[tuple[str, str]]:
    said = guards(entries)
    assert tuple(said[: len(ALWAYS)]) == ALWAYS
    return said[len(ALWAYS) :]


def test_a_listing_is_read_with_every_kind_of_value() -> None:
    listing = b"system\0core.bare\0local\0core.editor\nvi\nvim\0worktree\0a.b\n\0"
    assert read_entries(listing) == [
        Entry("system", "core.bare", "true"),
        Entry("local", "core.editor", "vi\nvim"),
        Entry("worktree", "a.b", ""),
    ]


def test_a_filter_of_the_repository_is_disarmed() -> None:
    assert beyond_the_usual(
        Entry("local", "filter.x.y.clean", "evil"),
        Entry("worktree", "filter.x.required", "true"),
        Entry("local", "core.alternaterefscommand", "evil"),
    ) == [
        ("filter.x.y.clean", ""),
        ("filter.x.required", "false"),
        ("core.alternaterefscommand", "true"),
    ]


def test_a_filter_of_the_user_stays_as_the_user_has_it() -> None:
    assert beyond_the_usual(Entry("global", "filter.lfs.clean", "git-lfs clean")) == []
    assert beyond_the_usual(
        Entry("global", "filter.lfs.clean", "git-lfs clean"),
        Entry("local", "filter.lfs.clean", "evil"),
    ) == [("filter.lfs.clean", "git-lfs clean")]


def test_credential_helpers_of_the_user_stay_and_those_of_the_repository_go() -> None:
    theirs = Entry("global", "credential.https://host.helper", "store")
    assert beyond_the_usual(theirs) == []
    assert beyond_the_usual(theirs, Entry("local", "credential.helper", "!evil")) == [
        ("credential.helper", ""),
        ("credential.https://host.helper", "store"),
    ]


def test_settings_that_start_nothing_are_left_alone() -> None:
    assert beyond_the_usual(Entry("local", "core.autocrlf", "true")) == []


def test_names_may_have_signs_that_arguments_could_not_have() -> None:
    assert as_variables([("credential.https://a=b.helper", "x")]) == {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "credential.https://a=b.helper",
        "GIT_CONFIG_VALUE_0": "x",
    }
