"""The state of parsing: the sketch so far, and the cues that still wait for a noun."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from marchwarden.researchers.database.nl2sql.lexicon import Aggregate, Cue
from marchwarden.researchers.database.nl2sql.meanings import MeaningIndex, SchemaMeaning
from marchwarden.researchers.database.nl2sql.mentions import Mention, Noun, OtherWord
from marchwarden.researchers.database.nl2sql.noun_kind import NounClassifier
from marchwarden.researchers.database.nl2sql.sketch import Sketch, SketchTerm, SlotLink

_WEAK_LINK: Final = 0.2
_CLOSE_LINK: Final = 0.4
STRONG_LINK: Final = 1.0


@dataclass
class PendingCues:
    """Cues that wait for a noun or number."""

    aggregates: list[Aggregate] = field(default_factory=list)
    extreme: Cue | None = None
    frequent: Cue | None = None
    limit: int | None = None
    top: Cue | None = None
    each: bool = False
    ordering: bool = False
    negated: bool = False
    comparison: Cue | None = None
    numbers: tuple[float, ...] = ()


class QueryDraft:
    """The state of parsing one question from left to right.

    `at` is the current mention. While `open`, nouns name what to show. After `replacing` is set, the next noun replaces
    what is shown. `related` is set once a relation such as "border" was read.
    """

    def __init__(self, mentions: Sequence[Mention], meanings: MeaningIndex) -> None:
        self.mentions, self.meanings, self.classifier = mentions, meanings, NounClassifier(meanings)
        self.sketch, self.pending = Sketch(), PendingCues()
        self.at = 0
        self.open, self.replacing, self.related = True, False, False
        self.noun_before: int | None = None
        self.modifiers: set[int] = set()
        self._mentioned: set[int] = set()

    def neighbor(self, step: int) -> Mention:
        at = self.at + step
        return self.mentions[at] if 0 <= at < len(self.mentions) else OtherWord("", known=True)

    def preceded_by(self, *texts: str) -> bool:
        before = self.neighbor(-1)
        return isinstance(before, OtherWord) and before.text in texts

    def reject(self, text: str) -> None:
        """Record words that cannot be interpreted. The question is then refused."""
        self.sketch.unknown_words.append(text)

    def close(self) -> None:
        self.open = self.open and not self.sketch.shown

    def add_slot(self, text: str, meanings: tuple[SchemaMeaning, ...]) -> int:
        sketch, slot = self.sketch, self.sketch.add(text, meanings)
        earlier = next((at for at in range(slot) if self.stems_of(at) == self.stems_of(slot)), None)
        if earlier is not None and self.related:
            sketch.apart.append((earlier, slot))
        elif earlier is not None:
            sketch.slot_links.append(SlotLink(earlier, slot, STRONG_LINK))
        if slot:
            sketch.slot_links.append(SlotLink(slot - 1, slot, _CLOSE_LINK if self.preceded_by("of") else _WEAK_LINK))
        return slot

    def stems_of(self, slot: int) -> tuple[str, ...]:
        return self.meanings.stems.all_stems(self.sketch.slots[slot].text)

    def add_implied_measure(self, hint: str, text: str, thing: int) -> int | None:
        """Add a measure that the question does not name: "longest" implies a length. None if no column fits."""
        if not (found := self.meanings.measures(hint)):
            self.reject(text)
            return None
        slot = self.sketch.add(text, found, implied=True)
        self.sketch.slot_links.append(SlotLink(thing, slot, STRONG_LINK, measured=True))
        return slot

    def show(self, term: SketchTerm) -> None:
        if not self.open:
            return
        if self.replacing:
            self._mentioned |= {each.slot for each in self.sketch.shown}
            self.sketch.shown.clear()
            self.replacing = False
        if self._mentioned:
            self.sketch.slot_links.append(SlotLink(min(self._mentioned), term.slot, _WEAK_LINK))
        self.sketch.shown.append(term)

    def show_implied(self, text: str, meanings: tuple[SchemaMeaning, ...]) -> None:
        if meanings:
            self.sketch.shown.append(SketchTerm(self.sketch.add("", meanings, implied=True)))
            self.open = False
        else:
            self.reject(text)

    def make_term(self, noun: Noun, slot: int) -> SketchTerm:
        """Apply the pending aggregates to a noun: numbers are summed, things are counted."""
        aggregates, self.pending.aggregates = self.pending.aggregates, []
        if not aggregates:
            return SketchTerm(slot)
        if self.classifier.is_measure(noun):
            others = [aggregate for aggregate in aggregates if aggregate is not Aggregate.COUNT]
            return SketchTerm(slot, others[0] if others else Aggregate.SUM)
        if Aggregate.COUNT in aggregates:
            if Aggregate.AVERAGE in aggregates:
                self.reject("average")
            return SketchTerm(slot, Aggregate.COUNT)
        if (
            self.classifier.has_measure(noun, "money")
            and (implied := self.add_implied_measure("money", noun.text, slot)) is not None
        ):
            return SketchTerm(implied, aggregates[0])
        if aggregates[0] is not Aggregate.SUM:
            self.reject(noun.text)
        return SketchTerm(slot, Aggregate.COUNT)

    def unused_columns(self) -> list[str]:
        """Columns that the question names but the sketch does not use: the question was not understood."""
        used = self.sketch.used_slots() | self._mentioned | self.modifiers
        known = {self.stems_of(at) for at in used}
        slots = ((at, slot) for at, slot in enumerate(self.sketch.slots) if at not in used and not slot.implied)
        return [
            slot.text for at, slot in slots if self.stems_of(at) not in known and self.classifier.is_plain_column(slot)
        ]
