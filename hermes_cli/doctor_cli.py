"""Examines the CLI agents: are they there, do they start, who pays for them?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hermes.core.cli_agents import Profile, Readiness
from hermes_cli.cli_agents_found import FoundAgent
from hermes_cli.doctor_finding import Finding, ok, problem, warning


def agents(found: Iterable[FoundAgent], *, is_root: bool) -> Iterator[Finding]:
    for each in found:
        yield _agent(each)
        if each.agent.profile is Profile.FULL and is_root:
            yield problem(
                _title(each),
                "the profile full is refused, because the gateway would run as root",
                f"run it as another user, or lower cli.agents.{each.agent.name}.profile",
            )


def _title(each: FoundAgent) -> str:
    return f"CLI agent {each.agent.name}"


def _agent(each: FoundAgent) -> Finding:
    examined = each.examined
    version = f" {examined.version}" if examined.version else ""
    told = f"{examined.readiness.value}{version}"
    if examined.detail:
        told = f"{told}: {examined.detail}"
    if examined.readiness is Readiness.READY:
        return ok(_title(each), f"{told}; {', '.join(each.models)}")
    if examined.readiness is Readiness.LOGIN_UNKNOWN:
        return warning(_title(each), told, examined.fix)
    return problem(_title(each), told, examined.fix)
