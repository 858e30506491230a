"""What a provider's answer, or its silence, means."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hermes.settings.model import ProviderSettings
from hermes_cli import doctor_provider
from hermes_cli.doctor_finding import Finding, Level
from hermes_cli.doctor_provider import Answer, judged

SECRET = "sk-test-1234567890abcdef"


def settings(base_url: str, api_key: str | None = SECRET) -> ProviderSettings:
    return ProviderSettings(provider="openai", model="m", base_url=base_url, api_key=api_key)


def found(base_url: str) -> Finding:
    [finding] = doctor_provider.provider(settings(base_url))
    return finding


@contextmanager
def one_answer(raw: bytes) -> Iterator[str]:
    """A server that says `raw` to whoever connects first, whatever they ask."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            client, _ = server.accept()
            with client:
                client.recv(65536)
                client.sendall(raw)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join(5)


@pytest.mark.parametrize(
    ("status", "level", "hint"),
    [
        (200, Level.OK, ""),
        (401, Level.PROBLEM, "OPENAI_API_KEY"),
        (403, Level.PROBLEM, "OPENAI_API_KEY"),
        (404, Level.WARNING, "base_url"),
        (302, Level.WARNING, "base_url"),
        (429, Level.WARNING, "try again"),
        (503, Level.WARNING, "try again"),
    ],
)
def test_every_status_leads_to_advice(status: int, level: Level, hint: str) -> None:
    finding = judged("Provider", settings("http://127.0.0.1/v1"), Answer(status))

    assert finding.level is level
    assert hint in finding.fix
    assert SECRET not in finding.detail + finding.fix


def test_a_missing_key_is_called_missing() -> None:
    finding = judged("Provider", settings("http://127.0.0.1/v1", api_key=None), Answer(401))

    assert finding.fix == "set OPENAI_API_KEY: no key is configured"


def test_a_refused_key_is_noticed_over_the_wire() -> None:
    refusal = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with one_answer(refusal) as where:
        assert "refuses the key (HTTP 401)" in found(f"http://{where}/v1").detail


def test_an_answer_that_is_no_list_leaves_the_model_alone() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
    with one_answer(page) as where:
        _, model = doctor_provider.provider(settings(f"http://{where}/v1"))

    assert (model.level, model.detail) == (Level.OK, "m")


def test_a_server_without_tls_is_told_apart_from_one_that_is_not_there() -> None:
    with one_answer(b"HTTP/1.1 400 Bad Request\r\n\r\n") as where:
        assert "certificate" in found(f"https://{where}/v1").detail


def test_a_host_nobody_knows_is_a_problem() -> None:
    finding = found("http://no-such-host.invalid/v1")

    assert finding.level is Level.PROBLEM
    assert "base_url" in finding.fix


def test_silence_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_provider, "SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        finding = found(f"http://127.0.0.1:{silent.getsockname()[1]}/v1")

    assert "did not answer within 0.2 seconds" in finding.detail


def test_a_proxy_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY")

    assert "proxy" in found("http://192.0.2.1/v1").detail
