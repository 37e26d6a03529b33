"""Load the prompt files and build the content of a request: question, aspects and sentences fenced as data.

Prompt files are versioned and identified by their hash. Knows no model and no budget; the caller decides how much to
show.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal

from marchwarden.contract import MAX_CONTEXT, MAX_QUESTION
from marchwarden.core.digest import digest
from marchwarden.core.notebook import Claim, Finding, Notebook
from marchwarden.core.passages import Passage
from marchwarden.evidence.ranking.reading_list import uncovered_aspects
from marchwarden.minds.llm.fencing import ShownSentence, all_sentences, fence, fence_sentences, neutralize
from marchwarden.text.injection import is_injection
from marchwarden.text.sanitize import one_line
from marchwarden.text.words import WordStemmer

Task = Literal["plan", "read", "conclude", "reword"]
VERSION: Final = "v1"
RULES: Final = "rules"
ALREADY_FOUND: Final = 4
MOST_TO_CONCLUDE: Final = 40
MOST_QUERIES: Final = 12


@dataclass(frozen=True)
class Prompt:
    """Instructions for one task: the common rules and those of the task."""

    task: Task
    text: str
    hashes: tuple[tuple[str, str], ...]


def load_prompt(task: Task) -> Prompt:
    parts = {name: _read_prompt_file(name) for name in (RULES, task)}
    hashes = tuple((f"{name}.{VERSION}", digest(text.encode())) for name, text in parts.items())
    return Prompt(task, "\n".join(parts.values()), hashes)


def plan_content(notebook: Notebook) -> str:
    return f"{_question_header(notebook)}{_guide(notebook)}"


def reading_content(notebook: Notebook, passages: Sequence[Passage]) -> str:
    """Show passages by source, and the best earlier findings, so that the model can tell when it has enough."""
    found = sentences_by_relevance(notebook)[:ALREADY_FOUND]
    earlier = f"Found before:\n{fence_sentences(notebook, _in_document_order(found))}\n\n" if found else ""
    shown = fence_sentences(
        notebook, all_sentences(sorted(passages, key=lambda passage: (passage.document, passage.start)))
    )
    task = f"Which of these sentences bear on the question: {one_line(notebook.question, MAX_QUESTION)}"
    head = f"{_question_header(notebook)}{_guide(notebook)}"
    return f"{head}\n{_aspects(notebook)}\n{_past_searches(notebook)}\n{earlier}Documents:\n{shown}\n{task}"


def conclusion_content(notebook: Notebook, shown: Sequence[ShownSentence]) -> str:
    evidence = fence_sentences(notebook, _in_document_order(shown))
    task = f"Answer from these sentences: {one_line(notebook.question, MAX_QUESTION)}"
    head = f"{_question_header(notebook)}\n{_aspects(notebook)}"
    return f"{head}\nEvidence, the strongest parts of what was read:\n{evidence}\n{task}"


def rewording_content(notebook: Notebook, claims: Iterable[tuple[int, Claim, Sequence[str]]]) -> str:
    """Show each claim with its number, its problems and the sentences it cites.

    Each item has its own line, because weak models return the whole line of a claim.
    """
    lines: list[str] = []
    shown: dict[str, ShownSentence] = {}
    for number, claim, objections in claims:
        lines += [
            f"{number}. {one_line(claim.text)}",
            f"wrong with {number}: {'; '.join(objections)}",
            f"evidence of {number}: {', '.join(claim.evidence)}",
        ]
        shown |= {each.sentence.id: each for evidence in claim.evidence for each in sentences_of(notebook, evidence)}
    return "\n".join(
        ["Claims:", *lines, "Evidence:", fence_sentences(notebook, _in_document_order(list(shown.values())))]
    )


def sentences_by_relevance(notebook: Notebook) -> list[ShownSentence]:
    """Return the sentences of all findings, each once, most relevant first."""
    best: dict[str, Finding] = {}
    for finding in notebook.findings:
        known = best.get(finding.evidence)
        if known is None or finding.relevance > known.relevance:
            best[finding.evidence] = finding
    order = sorted(best.values(), key=lambda finding: (-round(finding.relevance, 6), finding.evidence))
    shown: dict[str, ShownSentence] = {}
    for finding in order:
        note = "" if finding.stance == "supports" else finding.stance
        for each in sentences_of(notebook, finding.evidence):
            shown.setdefault(each.sentence.id, ShownSentence(each.passage, each.sentence, note))
    return list(shown.values())


def select_evidence(notebook: Notebook, stems: WordStemmer) -> list[ShownSentence]:
    """Return the findings, or, if there are none, the passages read that share the most words with the question."""
    found = sentences_by_relevance(notebook)
    if found:
        return found[:MOST_TO_CONCLUDE]
    question_stems = frozenset(stems.content_stems(notebook.question))
    read = [passage for passage in notebook.passages if passage.id in notebook.read]
    read.sort(
        key=lambda each: (
            -len(question_stems & frozenset(stems.content_stems(notebook.text_of(each)))),
            each.document,
            each.start,
        )
    )
    return all_sentences(read)[:MOST_TO_CONCLUDE]


def sentences_of(notebook: Notebook, evidence: str) -> list[ShownSentence]:
    """Return the sentence with this id, or all sentences of the passage."""
    name, _, sentence = evidence.partition(".")
    if not notebook.has(evidence):
        return []
    passage = notebook.passages[int(name.removeprefix("p")) - 1]
    return [ShownSentence(passage, each) for each in passage.sentences if not sentence or each.id == evidence]


def _in_document_order(shown: Iterable[ShownSentence]) -> list[ShownSentence]:
    return sorted(shown, key=lambda each: (each.passage.document, each.sentence.start))


def _question_header(notebook: Notebook) -> str:
    known = f"\nKnown already, from the caller: {one_line(notebook.context, MAX_CONTEXT)}" if notebook.context else ""
    return f"Question: {one_line(notebook.question, MAX_QUESTION)}{known}"


def _guide(notebook: Notebook) -> str:
    """Show the source's own description of its queries. It is untrusted data, so it is fenced."""
    if not notebook.guide:
        return ""
    lines = [neutralize(line) for line in notebook.guide.splitlines()]
    shown = fence("\n".join(line for line in lines if line and not is_injection(line)), notebook)
    return f"\nThe source to search, described as data; write queries it can run:\n{shown}"


def _aspects(notebook: Notebook) -> str:
    still_open = uncovered_aspects(notebook)
    lines = [
        f"{number}. {one_line(aspect)}{' (open)' if aspect in still_open else ''}"
        for number, aspect in enumerate(notebook.aspects, 1)
    ]
    return "\n".join(["Aspects:", *lines]) if lines else "Aspects: the question as a whole."


def _past_searches(notebook: Notebook) -> str:
    return f"Searched so far: {'; '.join(one_line(query.text) for query in notebook.queries[-MOST_QUERIES:])}\n"


def _read_prompt_file(name: str) -> str:
    return (files("marchwarden.minds.llm") / "prompts" / f"{name}.{VERSION}.md").read_text("utf-8")
