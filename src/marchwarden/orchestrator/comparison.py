"""Find agreement and conflicts between excerpts cited by different researchers. Never reads their answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Final

from marchwarden.contract import Gap, GapCategory
from marchwarden.core.notebook import Claim, Conflict, Document, Draft, Notebook
from marchwarden.evidence.conflicts import ComparedText, ConflictDetector
from marchwarden.evidence.markers import without_markers
from marchwarden.evidence.similarity import SentenceContent
from marchwarden.orchestrator.evidence import CitedExcerpt
from marchwarden.text.words import WordStemmer

SAME_FACT: Final = 0.75
FEWEST_WORDS: Final = 3
MOST_EXCERPTS: Final = 4
COMPARED: Final = 40
MOST: Final = 6
_LONGEST_QUOTE: Final = 200


def corroborated(draft: Draft, notebook: Notebook, stems: WordStemmer) -> Draft:
    """Keep the claims based on a researcher's citation, and add excerpts of other documents that say the same."""
    cited = list(dict.fromkeys(finding.evidence for finding in notebook.findings))
    contents = {evidence: SentenceContent.from_text(notebook.excerpt(evidence).verbatim, stems) for evidence in cited}
    claims = [claim for claim in draft.claims if _is_cited(claim, contents, notebook)]
    return replace(draft, claims=tuple(_with_support(claim, contents, notebook, stems) for claim in claims))


def _is_cited(claim: Claim, contents: Mapping[str, SentenceContent], notebook: Notebook) -> bool:
    """Check whether a researcher cited the claim's evidence. Claims without evidence pass: grounding rejects them."""
    first = next(iter(claim.evidence), "")
    return first in contents or not notebook.has(first)


def _with_support(
    claim: Claim, contents: Mapping[str, SentenceContent], notebook: Notebook, stems: WordStemmer
) -> Claim:
    """Add one supporting excerpt per document. Copies come last, so that independent sources come first."""
    ours = SentenceContent.from_text(claim.text, stems)
    own, copies = [each for each in claim.evidence if notebook.has(each)], list[str]()
    for other, theirs in contents.items():
        known = [notebook.excerpt(each) for each in (*own, *copies)]
        witness = notebook.excerpt(other)
        fewer = min(len(ours.stems), len(theirs.stems))
        alike = ours.shared(theirs) >= SAME_FACT * max(fewer, FEWEST_WORDS)
        if not alike or ours.differs_in_fact(theirs) or witness.document in [each.document for each in known]:
            continue
        (copies if witness.verbatim in [each.verbatim for each in known] else own).append(other)
    return replace(claim, evidence=(*own, *copies)[:MOST_EXCERPTS])


def conflicts(notebook: Notebook, found_by: Sequence[CitedExcerpt], detector: ConflictDetector) -> tuple[Conflict, ...]:
    """Find sentences from different researchers that differ in a figure, date or polarity about the same thing."""
    finders = _finders(found_by)
    best = sorted(notebook.findings, key=lambda finding: -finding.relevance)
    evidence = list(dict.fromkeys(finding.evidence for finding in best))[:COMPARED]
    found: list[Conflict] = []
    for one, other in combinations(evidence, 2):
        first, second = notebook.excerpt(one), notebook.excerpt(other)
        if finders[first.document.text_hash] == finders[second.document.text_hash]:
            continue  # A researcher that read both has already compared them.
        difference = detector.compare(
            _witness(first.document, first.verbatim), _witness(second.document, second.verbatim)
        )
        if difference:
            found.append(Conflict(difference.topic, difference.kind, one, other, difference.stance))
    return merged(notebook, found)[:MOST]


def merged(notebook: Notebook, *several: Iterable[Conflict]) -> tuple[Conflict, ...]:
    """Merge conflicts. Copies of the same two excerpts count once."""
    unique: dict[frozenset[str], Conflict] = {}
    for conflict in chain(*several):
        if notebook.has(conflict.one) and notebook.has(conflict.other):
            sides = frozenset(notebook.excerpt(each).verbatim for each in (conflict.one, conflict.other))
            unique.setdefault(sides, conflict)
    return tuple(unique.values())


def read_differently(found_by: Sequence[CitedExcerpt]) -> Iterator[Gap]:
    """Yield a gap for each source that two researchers fetched with different texts, if the citations differ.

    Documents that are only an excerpt are skipped, because the rest of the text is unknown.
    """
    complete = [cited for cited in found_by if cited.excerpt != cited.document.text]
    reported: set[tuple[str, str]] = set()
    for one, other in combinations(complete, 2):
        place = one.document.locator.split("#")[0]
        if one.researcher == other.researcher or one.document.text_hash == other.document.text_hash:
            continue
        if place != other.document.locator.split("#")[0]:
            continue
        if one.excerpt in other.document.text or other.excerpt in one.document.text:
            continue
        if (place, one.researcher + other.researcher) not in reported:
            reported.add((place, one.researcher + other.researcher))
            quoted = " / ".join(
                f"{each.researcher}: “{without_markers(each.excerpt)[:_LONGEST_QUOTE]}”" for each in (one, other)
            )
            yield Gap(
                topic=place,
                category=GapCategory.CONTRADICTORY_SOURCES,
                detail=f"Researchers read different versions of this source: {quoted}",
            )


def _finders(found_by: Sequence[CitedExcerpt]) -> dict[str, frozenset[str]]:
    names: dict[str, frozenset[str]] = {}
    for cited in found_by:
        key = cited.document.text_hash
        names[key] = names.get(key, frozenset()) | {cited.researcher}
    return names


def _witness(document: Document, text: str) -> ComparedText:
    """Identify the document by its text, because two researchers may have fetched different texts from one place."""
    return ComparedText(text, document.text_hash, document.title, document.published)
