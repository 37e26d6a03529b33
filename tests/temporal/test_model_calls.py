"""Model calls of a run: each is made once, even if workers or the proxy die. Lost calls count as billed."""

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from marchwarden.core.notebook import Usage
from marchwarden.minds.llm.model import Completion, ModelFailed, Request, UnavailableModel
from marchwarden.storage.notes import FolderNotes
from marchwarden.temporal.model_calls import OUTCOME, ModelCall, ModelOutcome, StoredModel
from marchwarden.temporal.model_proxy import ModelProxy

pytestmark = pytest.mark.slow

REQUEST = Request("be brief", "what is a bridge?", "Plan", {})
ANSWER = ModelOutcome(Completion("a road over water", usage=Usage(10, 5)))
NO_PROCESS = 2**22 + 1
"""Larger than any process id that the system allows."""


class NoLimit:
    """Permits every call."""

    @asynccontextmanager
    async def permit(self, call: ModelCall) -> AsyncIterator[Callable[[ModelOutcome], None]]:
        yield lambda _outcome: None


@dataclass
class FakeProxy:
    """Makes calls like the model proxy. It can hang before a call is sent, after it, or after the answer is stored."""

    notes: FolderNotes
    pid: int = field(default_factory=os.getpid)
    hangs: str = ""
    made: list[str] = field(default_factory=list)

    async def process(self) -> int:
        return self.pid

    async def call(self, call: ModelCall) -> ModelOutcome | None:
        if self.hangs == "before":
            await anyio.sleep_forever()
        self.notes.write(f"{call.slot}/sent", b"")
        self.made.append(call.slot)
        if self.hangs == "after":
            await anyio.sleep_forever()
        self.notes.write(f"{call.slot}/answered", OUTCOME.dump_json(ANSWER))
        if self.hangs == "answered":
            await anyio.sleep_forever()
        return ANSWER


def make_model(proxy: FakeProxy, notes: FolderNotes) -> StoredModel:
    return StoredModel(UnavailableModel("world", "never asked"), "a-run", proxy, notes, time.time, NoLimit())


async def complete_and_abandon(model: StoredModel) -> None:
    with anyio.move_on_after(0.2):
        await model.complete(REQUEST, 100, 5.0)


async def test_an_answer_stored_after_its_worker_died_is_reused(tmp_path):
    notes = FolderNotes(tmp_path)
    await complete_and_abandon(make_model(FakeProxy(notes, NO_PROCESS, hangs="answered"), notes))
    second = FakeProxy(notes)
    completion = await make_model(second, notes).complete(REQUEST, 100, 5.0)
    assert completion == ANSWER.completion
    assert second.made == []


async def test_a_pending_answer_is_awaited(tmp_path):
    notes = FolderNotes(tmp_path)
    first = FakeProxy(notes, hangs="after")
    await complete_and_abandon(make_model(first, notes))
    second = FakeProxy(notes)

    async def arrive() -> None:
        notes.write(f"{first.made[0]}/answered", OUTCOME.dump_json(ANSWER))

    async with anyio.create_task_group() as group:
        group.start_soon(arrive)
        completion = await make_model(second, notes).complete(REQUEST, 100, 5.0)
    assert (completion, second.made) == (ANSWER.completion, [])


async def test_a_call_lost_with_its_proxy_counts_as_billed_and_can_be_retried(tmp_path):
    notes = FolderNotes(tmp_path)
    await complete_and_abandon(make_model(FakeProxy(notes, NO_PROCESS, hangs="after"), notes))
    second = FakeProxy(notes)
    model = make_model(second, notes)
    with pytest.raises(ModelFailed) as lost:
        await model.complete(REQUEST, 100, 5.0)
    assert (lost.value.billed, lost.value.retry) == (True, True)
    assert await model.complete(REQUEST, 100, 5.0) == ANSWER.completion
    assert len(second.made) == 1


async def test_a_call_that_was_never_sent_is_not_billed(tmp_path):
    notes = FolderNotes(tmp_path)
    await complete_and_abandon(make_model(FakeProxy(notes, NO_PROCESS, hangs="before"), notes))
    second = FakeProxy(notes)
    assert await make_model(second, notes).complete(REQUEST, 100, 5.0) == ANSWER.completion
    assert len(second.made) == 1


async def test_the_proxy_stores_answers_and_failures(tmp_path: Path):
    notes = FolderNotes(tmp_path)
    outcome = await ModelProxy({}, notes).handle(ModelCall("calls/a-run/x-1", "anthropic:claude", REQUEST, 100, 5.0))
    assert outcome.failure is not None
    assert "ANTHROPIC_API_KEY" in outcome.failure.detail
    assert notes.read("calls/a-run/x-1/answered") == OUTCOME.dump_json(outcome)
    notes.clear("calls/a-run")
    assert notes.read("calls/a-run/x-1/answered") is None


def test_notes_are_written_once(tmp_path):
    notes = FolderNotes(tmp_path)
    assert notes.write("a/b", b"first")
    assert not notes.write("a/b", b"second")
    assert notes.read("a/b") == b"first"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]
