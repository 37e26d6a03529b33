"""A model with scripted answers, and a notebook for tests."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

import anyio

from marchwarden.core.budget import Allowance
from marchwarden.core.notebook import Document, Finding, Notebook, Usage
from marchwarden.minds.llm import Completion, ModelFailed, Request

QUESTION = "When was the Alder Bridge opened, and by whom?"
BRIDGE = (
    "The Alder Bridge was opened in 1931 by the engineer Maud Ferris. It carries two lanes over the river Senn.\n\n"
    "Tolls were paid until 1950, when the county bought it. See https://alder.example/history for more."
)
RIVAL = "The Alder Bridge was opened in 1934 by the engineer Maud Ferris."


@dataclass
class ScriptedModel:
    """Returns its lines in order, repeating the last one, and records the requests."""

    lines: Sequence[object]
    usage: Usage | None = field(default_factory=lambda: Usage(input=1_000, output=20))
    model_id: str = "saying:model"
    frame_tokens: int = 0
    repeats_shape: bool = False
    asked: list[Request] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)
    readied: int = 0

    async def ready(self) -> None:
        self.readied += 1

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        self.asked.append(request)
        self.limits.append(max_tokens)
        line = self.lines[min(len(self.asked), len(self.lines)) - 1]
        match line:
            case ModelFailed():
                raise line
            case Completion():
                return line
            case None:
                await anyio.sleep_forever()
            case str():
                return Completion(line, usage=self.usage)
        return Completion(json.dumps(line), usage=self.usage)


def allowed(tokens: int = 20_000, seconds: float = 60.0) -> Allowance:
    return Allowance(tokens=tokens, sources=5, iterations=3, seconds=seconds)


def a_notebook(*findings: Finding) -> Notebook:
    notebook = Notebook(QUESTION, aspects=("opening date", "who opened it"))
    for name, text in (("bridge", BRIDGE), ("rival", RIVAL)):
        notebook.add(
            Document(
                "web",
                f"https://{name}.example/page",
                text.encode(),
                text,
                title=f"The Alder Bridge ({name})",
                published=date(2020, 1, 1),
            )
        )
    notebook.read = {passage.id for passage in notebook.passages}
    notebook.findings.extend(findings)
    return notebook


def notebook_with_findings() -> Notebook:
    return a_notebook(Finding("p1.s1", 0.9, "opening date"), Finding("p1.s2", 0.4))
