"""A run's calls to its model: each made once, whoever dies in between; what is lost is paid for."""

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

REQUEST = Request("be brief", "what is a bridge?", "Plan", {})
ANSWER = ModelOutcome(Completion("a road over water", usage=Usage(10, 5)))
NOBODY = 2**22 + 1
"""No process has a number beyond what the system allows."""


class Free:
    """Nobody has to be asked."""

    @asynccontextmanager
    async def permit(self, call: ModelCall) -> AsyncIterator[Callable[[ModelOutcome], None]]:
        yield lambda _outcome: None


@dataclass
class Telephone:
    """Makes calls like a teller, and may die with one: before it is sent, or after."""

    notes: FolderNotes
    pid: int = field(default_factory=os.getpid)
    dies: str = ""
    made: list[str] = field(default_factory=list)

    async def process(self) -> int:
        return self.pid

    async def call(self, call: ModelCall) -> ModelOutcome | None:
        if self.dies == "before":
            await anyio.sleep_forever()
        self.notes.write(f"{call.slot}/sent", b"")
        self.made.append(call.slot)
        if self.dies == "after":
            await anyio.sleep_forever()
        self.notes.write(f"{call.slot}/answered", OUTCOME.dump_json(ANSWER))
        if self.dies == "answered":
            await anyio.sleep_forever()
        return ANSWER


def a_model(telephone: Telephone, notes: FolderNotes) -> StoredModel:
    return StoredModel(UnavailableModel("world", "never asked"), "a-run", telephone, notes, time.time, Free())


async def cut_off(model: StoredModel) -> None:
    with anyio.move_on_after(0.2):
        await model.complete(REQUEST, 100, 5.0)


async def test_an_answer_that_came_after_its_worker_had_died_is_found_and_not_asked_for_again(tmp_path):
    notes = FolderNotes(tmp_path)
    await cut_off(a_model(Telephone(notes, NOBODY, dies="answered"), notes))
    second = Telephone(notes)
    said = await a_model(second, notes).complete(REQUEST, 100, 5.0)
    assert said == ANSWER.completion
    assert second.made == []


async def test_an_answer_on_its_way_is_waited_for(tmp_path):
    notes = FolderNotes(tmp_path)
    first = Telephone(notes, dies="after")
    await cut_off(a_model(first, notes))
    second = Telephone(notes)

    async def arrive() -> None:
        notes.write(f"{first.made[0]}/answered", OUTCOME.dump_json(ANSWER))

    async with anyio.create_task_group() as group:
        group.start_soon(arrive)
        said = await a_model(second, notes).complete(REQUEST, 100, 5.0)
    assert (said, second.made) == (ANSWER.completion, [])


async def test_a_call_whose_teller_died_with_it_counts_as_billed_and_may_be_made_again(tmp_path):
    notes = FolderNotes(tmp_path)
    await cut_off(a_model(Telephone(notes, NOBODY, dies="after"), notes))
    second = Telephone(notes)
    model = a_model(second, notes)
    with pytest.raises(ModelFailed) as lost:
        await model.complete(REQUEST, 100, 5.0)
    assert (lost.value.billed, lost.value.retry) == (True, True)
    assert await model.complete(REQUEST, 100, 5.0) == ANSWER.completion
    assert len(second.made) == 1


async def test_a_call_that_was_never_sent_costs_nothing(tmp_path):
    notes = FolderNotes(tmp_path)
    await cut_off(a_model(Telephone(notes, NOBODY, dies="before"), notes))
    second = Telephone(notes)
    assert await a_model(second, notes).complete(REQUEST, 100, 5.0) == ANSWER.completion
    assert len(second.made) == 1


async def test_a_teller_keeps_what_a_model_said_and_that_it_failed(tmp_path: Path):
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
