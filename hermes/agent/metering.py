"""What is told and counted of single requests to a provider."""

from __future__ import annotations

from hermes.agent.remedies import NOTICES, Remedy
from hermes.core.events import Emit, Notice
from hermes.core.metrics import Meter
from hermes.core.turn import Usage
from hermes.providers.failures import Failure
from hermes.settings.model import ProviderSettings


def count_call(
    meter: Meter, asked: ProviderSettings, outcome: str, seconds: float, usage: Usage | None
) -> None:
    meter.model_called(asked.provider, asked.model, outcome, seconds)
    if usage is not None:
        meter.tokens_used(asked.provider, asked.model, usage)


def tell_reopened(emit: Emit, meter: Meter, asked: ProviderSettings, failure: Failure) -> None:
    """A stream broke off before any text, and the same request is made again without a pause."""
    remedy = Remedy.RETRY
    meter.remedy_tried(asked.provider, asked.model, remedy.value, failure.kind.value)
    emit(Notice(NOTICES[remedy], f"{failure.message} Trying again at once."))
