"""Comparison: where what different researchers cited does not agree. Looks at excerpts, never at answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Final

from marchwarden.contract import Gap, GapCategory
from marchwarden.core.notebook import Claim, Conflict, Document, Draft, Notebook
from marchwarden.evidence.conflicts import ConflictDetector, Witness
from marchwarden.evidence.grounding import without_markers
from marchwarden.evidence.similarity import SentenceContent
from marchwarden.orchestrator.evidence import Cited
from marchwarden.text.words import WordStemmer

SAME_FACT: Final = 0.75
FEWEST_WORDS: Final = 3
MOST_WITNESSES: Final = 4
COMPARED: Final = 40
MOST: Final = 6
_LONGEST_QUOTE: Final = 200


def corroborated(draft: Draft, notebook: Notebook, stems: WordStemmer) -> Draft:
    """Each claim that a researcher's own citation makes, with the excerpts of other documents that say the same."""
    cited = list(dict.fromkeys(finding.evidence for finding in notebook.findings))
    said = {evidence: SentenceContent.by(notebook.excerpt(evidence).verbatim, stems) for evidence in cited}
    claims = [claim for claim in draft.claims if _is_cited(claim, said, notebook)]
    return replace(draft, claims=tuple(_backed(claim, said, notebook, stems) for claim in claims))


def _is_cited(claim: Claim, said: Mapping[str, SentenceContent], notebook: Notebook) -> bool:
    """Whether it is a researcher's to make. One that points at nothing stays, for grounding to judge."""
    first = next(iter(claim.evidence), "")
    return first in said or not notebook.has(first)


def _backed(claim: Claim, said: Mapping[str, SentenceContent], notebook: Notebook, stems: WordStemmer) -> Claim:
    """One witness a document. Those who only copy come last: they must not take the place of an own voice."""
    ours = SentenceContent.by(claim.text, stems)
    own, copies = [each for each in claim.evidence if notebook.has(each)], list[str]()
    for other, theirs in said.items():
        known = [notebook.excerpt(each) for each in (*own, *copies)]
        witness = notebook.excerpt(other)
        fewer = min(len(ours.stems), len(theirs.stems))
        alike = ours.shared(theirs) >= SAME_FACT * max(fewer, FEWEST_WORDS)
        if not alike or ours.differs_in_fact(theirs) or witness.document in [each.document for each in known]:
            continue
        (copies if witness.verbatim in [each.verbatim for each in known] else own).append(other)
    return replace(claim, evidence=(*own, *copies)[:MOST_WITNESSES])


def conflicts(notebook: Notebook, found_by: Sequence[Cited], disagreements: ConflictDetector) -> tuple[Conflict, ...]:
    """Sentences found by different researchers that give another figure, date or polarity for the same thing."""
    finders = _finders(found_by)
    best = sorted(notebook.findings, key=lambda finding: -finding.relevance)
    evidence = list(dict.fromkeys(finding.evidence for finding in best))[:COMPARED]
    found: list[Conflict] = []
    for one, other in combinations(evidence, 2):
        first, second = notebook.excerpt(one), notebook.excerpt(other)
        if finders[first.document.text_hash] == finders[second.document.text_hash]:
            continue  # the researcher that read both has compared them
        told = disagreements.between(
            _witness(first.document, first.verbatim), _witness(second.document, second.verbatim)
        )
        if told:
            found.append(Conflict(told.topic, told.kind, one, other, told.stance))
    return merged(notebook, found)[:MOST]


def merged(notebook: Notebook, *several: Iterable[Conflict]) -> tuple[Conflict, ...]:
    """Each quarrel once: a copy of either side quarrels in the same words, and is not told again."""
    told: dict[frozenset[str], Conflict] = {}
    for conflict in chain(*several):
        if notebook.has(conflict.one) and notebook.has(conflict.other):
            sides = frozenset(notebook.excerpt(each).verbatim for each in (conflict.one, conflict.other))
            told.setdefault(sides, conflict)
    return tuple(told.values())


def read_differently(found_by: Sequence[Cited]) -> Iterator[Gap]:
    """The same place, of which two researchers hold different texts, each citing what the other's does not say.

    Of a text that is no more than its excerpt nobody knows what else the place says.
    """
    whole = [cited for cited in found_by if cited.excerpt != cited.document.text]
    told: set[tuple[str, str]] = set()
    for one, other in combinations(whole, 2):
        place = one.document.locator.split("#")[0]
        if one.researcher == other.researcher or one.document.text_hash == other.document.text_hash:
            continue
        if place != other.document.locator.split("#")[0]:
            continue
        if one.excerpt in other.document.text or other.excerpt in one.document.text:
            continue
        if (place, one.researcher + other.researcher) not in told:
            told.add((place, one.researcher + other.researcher))
            quoted = " / ".join(
                f"{each.researcher}: “{without_markers(each.excerpt)[:_LONGEST_QUOTE]}”" for each in (one, other)
            )
            yield Gap(
                topic=place,
                category=GapCategory.CONTRADICTORY_SOURCES,
                detail=f"The same source was read differently: {quoted}",
            )


def _finders(found_by: Sequence[Cited]) -> dict[str, frozenset[str]]:
    names: dict[str, frozenset[str]] = {}
    for cited in found_by:
        key = cited.document.text_hash
        names[key] = names.get(key, frozenset()) | {cited.researcher}
    return names


def _witness(document: Document, text: str) -> Witness:
    """Told apart by its text: of one place two researchers may hold different texts."""
    return Witness(text, document.text_hash, document.title, document.published)
