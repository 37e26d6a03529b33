"""Comparison: where what different researchers cited does not agree. Looks at excerpts, never at answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from marchwarden.contract import Gap, GapCategory
from marchwarden.disagreement import Disagreements, Witness
from marchwarden.grounding import unmarked
from marchwarden.notebook import Claim, Conflict, Document, Draft, Notebook
from marchwarden.orchestrator.evidence import Cited
from marchwarden.ranking.terms import Stems, differ_in_fact

SAME_FACT: Final = 0.75
FEWEST_WORDS: Final = 3
MOST_WITNESSES: Final = 4
COMPARED: Final = 40
MOST: Final = 6
_LONGEST_QUOTE: Final = 200


def corroborated(draft: Draft, notebook: Notebook, stems: Stems) -> Draft:
    """Each claim that a researcher's own citation makes, with the excerpts of other documents that say the same."""
    cited = list(dict.fromkeys(finding.evidence for finding in notebook.findings))
    said = {evidence: frozenset(stems.of(notebook.excerpt(evidence).verbatim)) for evidence in cited}
    claims = [claim for claim in draft.claims if claim.evidence[:1] and claim.evidence[0] in said]
    return replace(draft, claims=tuple(_backed(claim, said, notebook, stems) for claim in claims))


def _backed(claim: Claim, said: Mapping[str, frozenset[str]], notebook: Notebook, stems: Stems) -> Claim:
    words = frozenset(stems.of(claim.text))
    evidence = list(claim.evidence)
    for other, theirs in said.items():
        known = {notebook.document_of(each).text_hash for each in evidence}
        alike = len(words & theirs) >= SAME_FACT * max(min(len(words), len(theirs)), FEWEST_WORDS)
        if alike and not differ_in_fact(words, theirs) and notebook.document_of(other).text_hash not in known:
            evidence.append(other)
    return replace(claim, evidence=tuple(evidence[:MOST_WITNESSES]))


def conflicts(notebook: Notebook, found_by: Sequence[Cited], disagreements: Disagreements) -> tuple[Conflict, ...]:
    """Sentences found by different researchers that give another figure, date or polarity for the same thing."""
    finders = _finders(found_by)
    best = sorted(notebook.findings, key=lambda finding: -finding.relevance)
    evidence = list(dict.fromkeys(finding.evidence for finding in best))[:COMPARED]
    found: dict[frozenset[str], Conflict] = {}
    for one, other in combinations(evidence, 2):
        first, second = notebook.excerpt(one), notebook.excerpt(other)
        if finders[first.document.text_hash] == finders[second.document.text_hash]:
            continue  # the researcher that read both has compared them
        told = disagreements.between(
            _witness(first.document, first.verbatim), _witness(second.document, second.verbatim)
        )
        if told:
            conflict = Conflict(told.topic, told.kind, one, other, told.stance)
            # A copy of either side quarrels in the same words, and is not told again.
            found.setdefault(frozenset({first.verbatim, second.verbatim}), conflict)
    return tuple(found.values())[:MOST]


def read_differently(found_by: Sequence[Cited]) -> Iterator[Gap]:
    """The same place, of which two researchers hold different texts, each citing what the other's does not say."""
    told: set[tuple[str, str]] = set()
    for one, other in combinations(found_by, 2):
        place = one.document.locator.split("#")[0]
        if place != other.document.locator.split("#")[0] or one.document.text_hash == other.document.text_hash:
            continue
        if one.excerpt in other.document.text or other.excerpt in one.document.text:
            continue
        if (place, one.researcher + other.researcher) not in told:
            told.add((place, one.researcher + other.researcher))
            quoted = " / ".join(
                f"{each.researcher}: “{unmarked(each.excerpt)[:_LONGEST_QUOTE]}”" for each in (one, other)
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
    return Witness(text, document.locator, document.title, document.published)
