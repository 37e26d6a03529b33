"""Ask a real language model, however weak: no run fails, and every excerpt comes from the documents.

Needs a server with OpenAI's chat API in MARCHWARDEN_REAL_MODEL_URL, and a folder with documents and questions in
MARCHWARDEN_REAL_QUESTIONS. Skipped without both.
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
QUESTION_COUNT: Final = 20
LIMITS: Final = ResearchConstraints(max_iterations=1, token_budget=8_000, max_sources=5, max_wall_time_sec=1_800.0)


@dataclass(frozen=True)
class AskedQuestion:
    """A question, its result, and which thoughts came from the model."""

    question: str
    result: ResearchResult
    model_steps: frozenset[str]
    seconds: float

    def __str__(self) -> str:
        whose = "concluded by the model" if "conclude" in self.model_steps else "concluded by the fallback"
        spent = f"{self.seconds:.0f} s, {self.result.cost_metadata.tokens_used} tokens"
        return f"{self.question} ({whose}, {spent})\n{self.result.answer}\n{self.gaps}"

    @property
    def gaps(self) -> str:
        return "\n".join(f"  gap: {gap.topic}: {gap.detail}" for gap in self.result.gaps)


def read_lines(name: str) -> Iterator[dict[str, object]]:
    with (Path(os.environ[QUESTIONS]) / name).open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def write_library(folder: Path) -> Path:
    folder.mkdir()
    for number, document in enumerate(read_lines("docs.jsonl")):
        (folder / f"{number:06d}.txt").write_text(f"{document['title']}\n\n{document['text']}\n", encoding="utf-8")
    return folder


def sample_questions() -> list[str]:
    """Return the same questions every time, in hash order."""
    asked = sorted(read_lines("questions.jsonl"), key=lambda each: sha256(str(each["id"]).encode()).hexdigest())
    return [str(each["question"]).strip() for each in islice(asked, QUESTION_COUNT)]


async def ask(researcher: FilesResearcher, question: str) -> AskedQuestion:
    began = time.monotonic()
    result = await researcher.research(question, constraints=LIMITS)
    steps = researcher.store.chain(result.trace_id).entries
    had = [each for each in steps if each.fields.get("model") == researcher.mind.model_id and "result" in each.fields]
    return AskedQuestion(question, result, frozenset(each.action for each in had), time.monotonic() - began)


@pytest.mark.real_model
@pytest.mark.timeout(11 * 3600)
@pytest.mark.skipif(not {ADDRESS, QUESTIONS} <= os.environ.keys(), reason=f"needs {ADDRESS} and {QUESTIONS}")
async def test_results_of_a_real_model_have_only_verified_excerpts(tmp_path: Path) -> None:
    mind = select_mind("openai:local", {"OPENAI_BASE_URL": os.environ[ADDRESS]})
    library = write_library(tmp_path / "library")
    researcher = FilesResearcher(library, mind=mind, trace_dir=tmp_path / "traces", index_dir=tmp_path / "index")
    asked = []
    for question in sample_questions():
        asked.append(await ask(researcher, question))
        print(f"\n{asked[-1]}", flush=True)
    proofs = [check for each in asked for check in verify(researcher.store, each.result.trace_id)]
    model_steps = {action: sum(action in each.model_steps for each in asked) for action in ("plan", "read", "conclude")}
    cited = sum(len(each.result.citations) for each in asked)
    print(f"\n{len(asked)} questions, {cited} citations; thoughts from the model: {model_steps}")
    assert len(asked) == QUESTION_COUNT
    assert [check for check in proofs if not check.proved] == []
    assert all(ResearchResult.model_validate_json(each.result.model_dump_json(), strict=True) for each in asked)
    assert all(each.result.cost_metadata.tokens_used <= LIMITS.token_budget for each in asked)
    assert cited and any(model_steps.values())
