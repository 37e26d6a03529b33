"""Judge one result by what the suite knows about its question. `metrics` computes figures over many judgements.

Only the part that a reader sees first counts: the first characters of the answer and of the excerpts, in order, and
the first citations.
"""

import re
import string
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from marchwarden.contract import CUT, Citation, GapCategory, ResearchResult
from marchwarden.core.notebook import Document, Excerpt
from marchwarden.errors import ArchiveDamaged
from marchwarden.evaluation.suite import Id, Suite, SuiteQuestion
from marchwarden.evidence.grounding import NO_ANSWER, unsupported
from marchwarden.evidence.markers import ANY_MARKER, marker_numbers
from marchwarden.storage.archive import Archive
from marchwarden.text.scripts import EAST_ASIAN

MAX_CHARACTERS: Final = 600
MAX_CITATIONS: Final = 8
MIN_CONFIDENCE: Final = 0.5
QUOTE_COVERAGE: Final = 0.6

_PUNCTUATION: Final = dict.fromkeys(map(ord, string.punctuation), " ") | {
    code: " " for code in (*range(0x80, 0x3100), *range(0xFF00, 0xFFF0)) if unicodedata.category(chr(code))[0] == "P"
}
_UNSPACED: Final = re.compile(f"([{EAST_ASIAN}])")
_ARTICLES: Final = frozenset({"a", "an", "the"})


@dataclass(frozen=True)
class Judgement:
    """The judgement of one result. `None` means that the suite has no data to judge by."""

    question: SuiteQuestion
    confidence: float
    citations: int
    verbatim: int
    markers_valid: bool
    statements: int
    unsupported: int
    gold_document: bool | None
    all_gold_documents: bool | None
    said: bool | None
    seen: bool | None
    quoted: bool | None
    wrong_said: bool | None
    has_gap: bool
    contradicted: bool
    tokens: int
    seconds: float

    @property
    def found(self) -> bool:
        """Whether the reader sees the evidence: the answer or the gold quote, or, without those, the gold document."""
        if self.seen is None and self.quoted is None:
            return bool(self.gold_document)
        return bool(self.seen or self.quoted)

    @property
    def refused(self) -> bool:
        return self.confidence < MIN_CONFIDENCE

    @property
    def good(self) -> bool | None:
        """Whether the result is right: it found the evidence, or refused an unanswerable question."""
        if self.question.answerable is None:
            return None
        return self.found if self.question.answerable else self.has_gap and self.refused


class Judge:
    """Judges results for one suite. Excerpts from other documents are checked against the archive, if given."""

    def __init__(self, suite: Suite, archive: Archive | None = None) -> None:
        self._ids: Mapping[str, Id] = {name: document.id for name, document in suite.files().items()}
        self._texts: Mapping[str, str] = {
            name: collapse_spaces(document.content) for name, document in suite.files().items()
        }
        self._archive = archive

    def judge(self, question: SuiteQuestion, result: ResearchResult) -> Judgement:
        excerpts = [_excerpt_text(each) for each in result.citations]
        cited = [self._ids.get(self._suite_file(each)) for each in result.citations[:MAX_CITATIONS]]
        gold = {each.doc_id for each in question.evidence}
        quotes = [each.quote for each in question.evidence if each.quote]
        seen, said = " ".join(excerpts)[:MAX_CHARACTERS], ANY_MARKER.sub("", result.answer)[:MAX_CHARACTERS]
        statements, unfounded = _statements(result)
        return Judgement(
            question=question,
            confidence=result.confidence,
            citations=len(result.citations),
            verbatim=sum(self._is_verbatim(each) for each in result.citations),
            markers_valid=set(marker_numbers(result.answer)) <= set(range(1, len(result.citations) + 1)),
            statements=statements,
            unsupported=unfounded,
            gold_document=not gold.isdisjoint(cited) if gold else None,
            all_gold_documents=gold <= set(cited) if gold else None,
            said=_contains_any(said, question.answers),
            seen=_contains_any(seen, question.answers),
            quoted=any(covers(quote, seen) for quote in quotes) if quotes else None,
            wrong_said=_contains_any(said, question.wrong_answers),
            has_gap=bool(result.gaps),
            contradicted=_reports_contradiction(result),
            tokens=result.cost_metadata.tokens_used,
            seconds=result.cost_metadata.wall_time_sec,
        )

    def _is_verbatim(self, citation: Citation) -> bool:
        """Whether the excerpt occurs in the document it names, from the suite or from the archive."""
        words = _excerpt_text(citation)
        text = self._texts.get(self._suite_file(citation))
        if text is None:
            text = self._archived_text(citation)
        return words != "" and words in text

    def _suite_file(self, citation: Citation) -> str:
        """Return the file of the suite that a citation names, directly or by a file inside it, or nothing."""
        path = PurePosixPath(citation.locator.split("#")[0].split("?")[0])
        return next((part for part in path.parts if part in self._ids), "")

    def _archived_text(self, citation: Citation) -> str:
        if self._archive is None or citation.text_hash is None:
            return ""
        try:
            return collapse_spaces(self._archive.load(citation.text_hash).decode(errors="replace"))
        except ArchiveDamaged:
            return ""


def collapse_spaces(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def normalize(text: str) -> str:
    """Return lower-case words without punctuation and articles, between spaces, so that `in` finds whole words only.

    Every Chinese or Japanese character counts as a word.
    """
    words = _UNSPACED.sub(r" \1 ", text.lower()).translate(_PUNCTUATION).split()
    return f" {' '.join(word for word in words if word not in _ARTICLES)} "


def covers(quote: str, text: str) -> bool:
    """Whether the text contains most words of a quote."""
    wanted = set(normalize(quote).split())
    return bool(wanted) and len(wanted & set(normalize(text).split())) / len(wanted) >= QUOTE_COVERAGE


def _contains_any(text: str, answers: Iterable[str]) -> bool | None:
    wanted = [normalize(answer) for answer in answers if answer]
    return any(answer in normalize(text) for answer in wanted) if wanted else None


def _excerpt_text(citation: Citation) -> str:
    return collapse_spaces(citation.raw_excerpt.replace(CUT, "")).strip()


def _reports_contradiction(result: ResearchResult) -> bool:
    has_gap = any(gap.category is GapCategory.CONTRADICTORY_SOURCES for gap in result.gaps)
    return has_gap or result.confidence_factors.contradiction_detected


def _statements(result: ResearchResult) -> tuple[int, int]:
    """Return the number of statements in an answer, and how many of them their excerpts do not support."""
    if not result.citations and result.gaps and result.confidence < MIN_CONFIDENCE:
        return 0, 0
    statements = [each for each in result.answer.split("\n\n") if each.strip() and each.strip() != NO_ANSWER]
    return len(statements), sum(_is_unsupported(each, result) for each in statements)


def _is_unsupported(statement: str, result: ResearchResult) -> bool:
    numbers = set(marker_numbers(statement))
    cited = [each for number, each in enumerate(result.citations, 1) if number in numbers]
    return not cited or bool(unsupported(ANY_MARKER.sub("", statement), map(_excerpt, cited)))


def _excerpt(citation: Citation) -> Excerpt:
    text = citation.raw_excerpt
    document = Document(citation.source, citation.locator, text.encode(), text, title=citation.title or "")
    return Excerpt(document, 0, len(text))
