"""Check whether a model's claims are supported by the sentences they cite. Stricter than grounding, which runs later.

Besides numbers, names and URLs, it checks three things: quotations must occur in the evidence, enough words must come
from the evidence or the question, and the claim must relate to the question. Knows no model.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from marchwarden.contract import Gap, GapCategory
from marchwarden.core.notebook import Claim, Conflict, Excerpt, Notebook
from marchwarden.evidence.conflicts import ComparedText, ConflictDetector
from marchwarden.evidence.grounding import unsupported
from marchwarden.minds.llm.parse import TextCleaner
from marchwarden.minds.llm.schema import ConflictShape
from marchwarden.text.words import WordStemmer

MOST_CONFLICTS: Final = 3
COMPARED: Final = 12
CARRIED: Final = 0.4
UNNAMED: Final = "one point"

_QUOTED: Final = re.compile(r"[\"“«„]([^\"”»“]{3,})[\"”»“]")


class Support:
    """Checks claims and conflicts against a notebook."""

    def __init__(self, notebook: Notebook, stems: WordStemmer) -> None:
        self._notebook = notebook
        self._stems = stems
        self._question_stems = frozenset(stems.content_stems(notebook.question))
        # Aspects are planned before any page is read, so no page can influence them.
        self._topic_stems = self._question_stems.union(*(stems.content_stems(aspect) for aspect in notebook.aspects))

    def with_evidence(self, claim: Claim, shown: Sequence[str]) -> Claim:
        """Return the claim. If it cites nothing, add the shown sentence that supports it best, if one does."""
        if claim.evidence:
            return claim
        candidates = [replace(claim, evidence=(each,)) for each in shown]
        carrying = [each for each in candidates if not self.objections(each)]
        return max(carrying, key=self._shared_words, default=claim)

    def objections(self, claim: Claim) -> list[str]:
        """List the problems of a claim in words that a model can act on."""
        excerpts = self._excerpts(claim)
        if not excerpts:
            return []
        missing = unsupported(claim.text, excerpts)
        found = [f"not in the evidence: {', '.join(missing)}"] if missing else []
        found += ["quotes what the evidence does not say"] if self._misquotes(claim, excerpts) else []
        found += [] if self._is_relevant(claim, excerpts) else ["has nothing to do with the question"]
        return found or ([] if self._is_supported(claim, excerpts) else ["says something else than the evidence"])

    def is_usable(self, claim: Claim) -> bool:
        """Whether the claim may go to grounding, which does not detect invented quotations or unrelated claims."""
        excerpts = self._excerpts(claim)
        fitting = self._is_supported(claim, excerpts) and self._is_relevant(claim, excerpts)
        return not excerpts or (fitting and not self._misquotes(claim, excerpts))

    def conflicts(self, shapes: Sequence[ConflictShape], cleaner: TextCleaner) -> tuple[Conflict, ...]:
        """Convert conflicts that the model reports between sentences of two documents."""
        found: dict[frozenset[str], Conflict] = {}
        for shape in shapes:
            one, other = shape.one.strip(), shape.other.strip()
            if not (self._notebook.has(one) and self._notebook.has(other)) or self._same_document(one, other):
                continue
            topic = self._topic(cleaner.clean(shape.topic, 120), one, other)
            found.setdefault(frozenset({one, other}), Conflict(topic, shape.kind, one, other, shape.stance))
        return tuple(found.values())[:MOST_CONFLICTS]

    def find_overlooked(self, evidence: Sequence[str], reported: Iterable[Conflict]) -> Iterator[Conflict]:
        """Yield contradicting numbers, dates and negations that the model did not report."""
        known = {frozenset({conflict.one, conflict.other}) for conflict in reported}
        disagreements = ConflictDetector(self._stems)
        for one, other in combinations(dict.fromkeys(evidence[:COMPARED]), 2):
            found = disagreements.compare(self._compared_text(one), self._compared_text(other))
            if found and found.stance != "different_scope" and frozenset({one, other}) not in known:
                yield Conflict(found.topic, found.kind, one, other, found.stance)

    def _shared_words(self, claim: Claim) -> int:
        evidence_stems = {stem for each in self._excerpts(claim) for stem in self._stems.content_stems(each.verbatim)}
        return len(evidence_stems.intersection(self._stems.content_stems(claim.text)))

    def _excerpts(self, claim: Claim) -> list[Excerpt]:
        return [self._notebook.excerpt(each) for each in claim.evidence if self._notebook.has(each)]

    def _is_supported(self, claim: Claim, excerpts: Sequence[Excerpt]) -> bool:
        words = frozenset(self._stems.content_stems(claim.text))
        evidence_stems = {
            stem for each in excerpts for stem in self._stems.content_stems(f"{each.verbatim} {each.document.title}")
        }
        return len(words & evidence_stems) > 0 and len(
            words & (evidence_stems | self._question_stems)
        ) >= CARRIED * len(words)

    def _is_relevant(self, claim: Claim, excerpts: Sequence[Excerpt]) -> bool:
        """Whether the claim or its evidence shares a word with the question or its aspects."""
        claim_stems = {
            stem
            for text in (claim.text, *(each.verbatim for each in excerpts))
            for stem in self._stems.content_stems(text)
        }
        return not self._topic_stems or not claim_stems.isdisjoint(self._topic_stems)

    def _misquotes(self, claim: Claim, excerpts: Sequence[Excerpt]) -> bool:
        evidence_text = " ".join(" ".join(excerpt.verbatim.split()) for excerpt in excerpts).casefold()
        return any(" ".join(quoted.split()).casefold() not in evidence_text for quoted in _QUOTED.findall(claim.text))

    def _topic(self, topic: str, one: str, other: str) -> str:
        """Return the model's topic if all its words occur in the evidence or the question: it enters the answer."""
        excerpts = [self._notebook.excerpt(each) for each in (one, other)]
        evidence_stems = {
            stem for each in excerpts for stem in self._stems.content_stems(each.verbatim)
        } | self._question_stems
        words = self._stems.content_stems(topic)
        return topic if words and evidence_stems.issuperset(words) and not unsupported(topic, excerpts) else UNNAMED

    def _same_document(self, one: str, other: str) -> bool:
        return self._notebook.document_of(one) is self._notebook.document_of(other)

    def _compared_text(self, evidence: str) -> ComparedText:
        excerpt = self._notebook.excerpt(evidence)
        document = excerpt.document
        return ComparedText(excerpt.verbatim, document.locator, document.title, document.published)


def gaps_for_withdrawn(claims: Sequence[Claim], notebook: Notebook) -> tuple[Gap, ...]:
    """Return one gap for claims that were left out. It does not repeat their text."""
    if not claims:
        return ()
    what = "a statement" if len(claims) == 1 else f"{len(claims)} statements"
    detail = f"The model wrote {what} not supported by the evidence or not related to the question; left out."
    return (Gap(topic=notebook.question, category=GapCategory.SOURCE_NOT_FOUND, detail=detail),)
