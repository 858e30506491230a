"""A turn that a CLI agent carries out, or one leg of it: what the loop is to a model of ours.

Runs in a fiber. Every way to end is an `Outcome`; nothing a CLI, a provider or a caller does makes
it raise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hermes.agent.answer_format import fault_of, without_fence
from hermes.agent.hosted.narrating import Narrator
from hermes.agent.hosted.outcomes import result_of
from hermes.agent.hosted.permission import Allowed, Denied, MustAsk, Permissions
from hermes.agent.hosted.questions import question_of
from hermes.agent.hosted.remembering import Remembering
from hermes.agent.hosted.seams import HostedSeams
from hermes.backends.drivers.base import Features
from hermes.backends.hosting.asking import Ask, failed
from hermes.backends.hosting.job import Begun, HostedJob
from hermes.backends.jobs import Memory, Question
from hermes.backends.saying import Ending, EndKind, PermissionAsked, Started
from hermes.core import messages
from hermes.core.events import ApprovalRequested, SegmentEnd, Steered
from hermes.core.messages import Content, Message
from hermes.core.turn import Failure, Outcome, TurnResult
from hermes.core.usage import NO_USAGE, Usage
from hermes.fibers import blocking, wait_in_fiber
from hermes.tools.approval_policy import Verdict

OnJob = Callable[[HostedJob], None]
"""Told whom to stop when the turn is to be stopped."""

ASKED_WITHIN = 0.25
"""A CLI tells a call and asks about it in one breath."""

_NO_IMAGES = "'{name}' cannot look at images; send text, or ask for another model."


class HostedTurn:
    """Asks the CLI, tells what it does, and makes the turn's result of what came of it."""

    def __init__(
        self,
        seams: HostedSeams,
        features: Features,
        told: Sequence[Message],
        used: Usage,
        on_job: OnJob,
    ) -> None:
        """`told` is all that was said before, and `used` what the turn had used by then."""
        self.narrator = Narrator(
            seams.model.name,
            seams.emit,
            seams.record,
            used,
            can_be_asked=features.asks and seams.parameters.can_ask,
        )
        self.permissions = Permissions(seams.approvals, seams.model.profile, seams.parameters)
        self._seams = seams
        self._features = features
        self._remembering = Remembering(seams, features)
        self._before = list(told)
        self._usage = used
        self._on_job = on_job
        self._jobs = 0
        self._job: HostedJob | None = None
        self._cli_session_id: str | None = None

    @property
    def told(self) -> list[Message]:
        """Everything that was said, to the last word."""
        return [*self._before, *self.narrator.messages]

    def ask(self, opening: Sequence[Message], said: Sequence[Content] | None = None) -> TurnResult:
        """Have new messages answered; they are recorded once the CLI is about to hear of them.

        `said` is what it is told instead of what they say.
        """
        contents = said or [each["content"] for each in opening if each.get("content")]
        memory = self._remembering.memory_for(self.told)
        result = self._answered(memory, contents, opening)
        if result is None:
            # The CLI does not know any more what it should go on with: it is told everything.
            result = self._answered(self._remembering.new_memory(), contents, opening)
        assert result is not None, "a new conversation cannot be unknown"
        return result

    def attend(self, job: HostedJob) -> TurnResult:
        """Follow a job that goes on."""
        self._take(job)
        ending = self._follow(job, ())
        return ending if isinstance(ending, TurnResult) else self._finished(job, ending)

    def abandon(self) -> None:
        """Nobody follows the job any more."""
        if self._job is not None:
            self._job.stop()

    def count(self, ending: Ending) -> None:
        used = self._seams.priced(ending.usage)
        self._usage += used
        self._seams.allowance.add(used)

    def ended(self, outcome: Outcome, text: str = "", **more: Any) -> TurnResult:
        return TurnResult(
            text=text,
            outcome=outcome,
            messages=self.told,
            usage=self._usage,
            api_calls=self._jobs,
            **more,
        )

    def _answered(
        self, memory: Memory | None, said: Sequence[Content], opening: Sequence[Message]
    ) -> TurnResult | None:
        """None when the CLI does not have the conversation it was to go on with."""
        is_known = memory is not None and memory.session.is_resumed
        question = self._question(said, () if is_known else self.told)
        if question.images and not self._features.images:
            error = _NO_IMAGES.format(name=self._seams.model.name)
            return result_of(failed("images_unsupported", error), self.ended, "")
        job = self._begin(Ask(question=question, memory=memory, **self._wishes()))
        ending = self._follow(job, opening)
        if isinstance(ending, TurnResult):
            return ending
        if is_known and ending.code == "cli_session_unknown" and not self.narrator.has_spoken:
            return None  # what is left of it goes when the new one takes its place
        return self._finished(job, ending)

    def _question(self, said: Sequence[Content], told: Sequence[Message]) -> Question:
        wanted = self._seams.parameters.answer_format
        is_told_apart = self._features.answer_schema and wanted and wanted.schema
        return question_of(said, told, None if is_told_apart else wanted)

    def _wishes(self) -> dict[str, Any]:
        seams, parameters = self._seams, self._seams.parameters
        wanted = parameters.answer_format
        schema = wanted.schema if wanted is not None and self._features.answer_schema else None
        return {
            "model": seams.model,
            "system_prompt": seams.system_prompt,
            "answer_schema": schema,
            "reasoning_effort": parameters.reasoning_effort,
            "can_ask": parameters.can_ask,
            "budget": seams.allowance.left(),
            "run_id": seams.run_id,
        }

    def _begin(self, ask: Ask) -> HostedJob:
        job = self._seams.host.begin(ask)
        self._jobs += 1
        self._take(job)
        return job

    def _take(self, job: HostedJob) -> None:
        self._job = job
        self._on_job(job)

    def _follow(self, job: HostedJob, opening: Sequence[Message]) -> Ending | TurnResult:
        """Tell what happens until it is over, or until somebody has to be asked."""
        unrecorded = list(opening)
        while (news := wait_in_fiber(lambda: job.more(self._patience()))) != []:
            if news is None:
                self.narrator.release()
                continue
            questions: list[tuple[PermissionAsked, Verdict]] = []
            for each in news:
                if isinstance(each, Begun):
                    for message in unrecorded:
                        self.narrator.keep(message)
                    unrecorded = []
                elif isinstance(each, Started):
                    self._cli_session_id = each.session_id or self._cli_session_id
                elif isinstance(each, PermissionAsked):
                    questions += self._decided(job, each)
                else:
                    self.narrator.tell(each)
            if questions:
                return self._paused(job, questions)
        assert job.ending is not None, "a job that has no more to tell is over"
        return job.ending

    def _patience(self) -> float | None:
        """How long a call may be unheard of until it is taken for one that nobody asks about."""
        return ASKED_WITHIN if self.narrator.is_holding else None

    def _decided(
        self, job: HostedJob, asked: PermissionAsked
    ) -> list[tuple[PermissionAsked, Verdict]]:
        """Answer a question of the CLI's; or what a person has to be asked."""
        match self.permissions.decide(asked):
            case Allowed():
                self.narrator.release(asked.call_id)
                job.answer(asked.id, is_allowed=True)
            case Denied(message):
                job.answer(asked.id, is_allowed=False, message=message)
            case MustAsk(verdict):
                return [(asked, verdict)]
        return []

    def _paused(
        self, job: HostedJob, questions: Sequence[tuple[PermissionAsked, Verdict]]
    ) -> TurnResult:
        requests = self.permissions.requests(questions)
        for request in requests:
            self._seams.emit(ApprovalRequested(request))
        asked = [question for question, _ in questions]
        self._seams.host.park(job, asked, self._seams.model.agent.name)
        self._remembering.keep(job, self._cli_session_id, NO_USAGE, self.told)
        return self.ended(Outcome.ASKING, approvals=requests)

    def _finished(self, job: HostedJob, ending: Ending) -> TurnResult:
        self.count(ending)
        text = self.narrator.finish(ending.text, ending.unsaid)
        if ending.kind is not EndKind.ANSWERED:
            self._remembering.drop(job)
            return result_of(ending, self.ended, text)
        session_id = ending.session_id or self._cli_session_id
        self._remembering.keep(job, session_id, ending.session_usage, self.told)
        return self._steered() or self._checked(text)

    def _steered(self) -> TurnResult | None:
        """Whoever said something meanwhile is answered too, in the same turn."""
        link = self._seams.link
        steers = [] if link is None else link.end_steering()
        if not steers:
            return None
        self._seams.emit(SegmentEnd())
        for steer in steers:
            self._seams.emit(Steered(steer.id, steer.text))
        return self.ask([messages.user(steer.text) for steer in steers])

    def _checked(self, text: str) -> TurnResult:
        wanted = self._seams.parameters.answer_format
        if wanted is None:
            return self.ended(Outcome.COMPLETED, text)
        plain = without_fence(text)
        fault = blocking(partial(fault_of, plain, wanted))
        if fault is None:
            return self.ended(Outcome.COMPLETED, plain)
        return self.ended(
            Outcome.FAILED,
            text,
            error=f"The agent's answer does not have the requested format: {fault}.",
            failure=Failure(code="invalid_structured_output"),
        )
