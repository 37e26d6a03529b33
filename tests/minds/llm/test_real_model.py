"""A real language model, as weak as it may be: it takes no run down, and every excerpt is the documents' own.

Needs a server that speaks OpenAI's chat API, named in MARCHWARDEN_REAL_MODEL_URL, and a folder with documents and
questions about them, named in MARCHWARDEN_REAL_QUESTIONS; without both it is skipped.
"""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from marchwarden.audit.verify import verify
from marchwarden.contract import ResearchConstraints, ResearchResult
from marchwarden.minds.select import select_mind
from marchwarden.researchers.files import FilesResearcher

ADDRESS: Final = "MARCHWARDEN_REAL_MODEL_URL"
QUESTIONS: Final = "MARCHWARDEN_REAL_QUESTIONS"
HOW_MANY: Final = 20
LIMITS: Final = ResearchConstraints(max_iterations=1, token_budget=8_000, max_sources=5, max_wall_time_sec=1_800.0)


@dataclass(frozen=True)
class Answered:
    """A question, what it came to, and which of its thoughts were the model's own."""

    question: str
    result: ResearchResult
    own: frozenset[str]
    seconds: float

    def __str__(self) -> str:
        whose = "concluded by the model" if "conclude" in self.own else "landed by the fallback"
        spent = f"{self.seconds:.0f} s, {self.result.cost_metadata.tokens_used} tokens"
        return f"{self.question} ({whose}, {spent})\n{self.result.answer}\n{self.gaps}"

    @property
    def gaps(self) -> str:
        return "\n".join(f"  gap: {gap.topic}: {gap.detail}" for gap in self.result.gaps)


def lines_of(name: str) -> Iterator[dict[str, object]]:
    with (Path(os.environ[QUESTIONS]) / name).open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def a_library(folder: Path) -> Path:
    folder.mkdir()
    for number, document in enumerate(lines_of("docs.jsonl")):
        (folder / f"{number:06d}.txt").write_text(f"{document['title']}\n\n{document['text']}\n", encoding="utf-8")
    return folder


def some_questions() -> list[str]:
    """The same ones every time, in no order of theirs."""
    asked = sorted(lines_of("questions.jsonl"), key=lambda each: sha256(str(each["id"]).encode()).hexdigest())
    return [str(each["question"]).strip() for each in islice(asked, HOW_MANY)]


async def answered(researcher: FilesResearcher, question: str) -> Answered:
    began = time.monotonic()
    result = await researcher.research(question, constraints=LIMITS)
    steps = researcher.store.chain(result.trace_id).entries
    had = [each for each in steps if each.fields.get("model") == researcher.mind.model_id and "result" in each.fields]
    return Answered(question, result, frozenset(each.action for each in had), time.monotonic() - began)


@pytest.mark.real_model
@pytest.mark.skipif(not {ADDRESS, QUESTIONS} <= os.environ.keys(), reason=f"needs {ADDRESS} and {QUESTIONS}")
async def test_questions_to_a_real_model_end_in_results_whose_every_excerpt_is_proved(tmp_path: Path) -> None:
    mind = select_mind("openai:local", {"OPENAI_BASE_URL": os.environ[ADDRESS]})
    library = a_library(tmp_path / "library")
    researcher = FilesResearcher(library, mind=mind, trace_dir=tmp_path / "traces", index_dir=tmp_path / "index")
    told = []
    for question in some_questions():
        told.append(await answered(researcher, question))
        print(f"\n{told[-1]}", flush=True)
    proofs = [check for each in told for check in verify(researcher.store, each.result.trace_id)]
    own = {action: sum(action in each.own for each in told) for action in ("plan", "read", "conclude")}
    cited = sum(len(each.result.citations) for each in told)
    print(f"\n{len(told)} questions, {cited} citations; thoughts that were the model's own: {own}")
    assert len(told) == HOW_MANY
    assert [check for check in proofs if not check.proved] == []
    assert all(ResearchResult.model_validate_json(each.result.model_dump_json(), strict=True) for each in told)
    assert all(each.result.cost_metadata.tokens_used <= LIMITS.token_budget for each in told)
    assert cited and any(own.values())
