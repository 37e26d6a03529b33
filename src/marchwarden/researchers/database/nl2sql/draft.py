"""A sketch in the making: what has been read so far, and what cues have announced that no noun has taken up yet."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from marchwarden.researchers.database.nl2sql.lexicon import Cue, Fold
from marchwarden.researchers.database.nl2sql.meanings import Meaning, Meanings
from marchwarden.researchers.database.nl2sql.mentions import Mention, Noun, Other
from marchwarden.researchers.database.nl2sql.noun_kind import Nature
from marchwarden.researchers.database.nl2sql.sketch import Bond, Sketch, Wish

_NEAR: Final = 0.2
_CLOSE: Final = 0.4
BOUND: Final = 1.0


@dataclass
class Pending:
    """What cues have announced."""

    folds: list[Fold] = field(default_factory=list)
    extreme: Cue | None = None
    frequent: Cue | None = None
    limit: int | None = None
    top: Cue | None = None
    each: bool = False
    ordering: bool = False
    negated: bool = False
    comparison: Cue | None = None
    numbers: tuple[float, ...] = ()


class Draft:
    """Where the reading of a question stands. `open` while nouns name what is to be shown."""

    def __init__(self, found: Sequence[Mention], meanings: Meanings) -> None:
        self.found, self.meanings, self.nature = found, meanings, Nature(meanings)
        self.sketch, self.pending = Sketch(), Pending()
        self.at = 0
        self.open, self.replacing, self.related = True, False, False
        self.noun_before: int | None = None
        self.modifiers: set[int] = set()
        self._spoken_of: set[int] = set()

    def beside(self, step: int) -> Mention:
        at = self.at + step
        return self.found[at] if 0 <= at < len(self.found) else Other("", known=True)

    def said_before(self, *texts: str) -> bool:
        before = self.beside(-1)
        return isinstance(before, Other) and before.text in texts

    def leave(self, text: str) -> None:
        """Nothing can be made of these words: the question will be refused."""
        self.sketch.leftovers.append(text)

    def close(self) -> None:
        self.open = self.open and not self.sketch.shown

    def slot(self, text: str, meanings: tuple[Meaning, ...]) -> int:
        sketch, slot = self.sketch, self.sketch.add(text, meanings)
        again = next((at for at in range(slot) if self.stems_of(at) == self.stems_of(slot)), None)
        if again is not None and self.related:
            sketch.apart.append((again, slot))
        elif again is not None:
            sketch.bonds.append(Bond(again, slot, BOUND))
        if slot:
            sketch.bonds.append(Bond(slot - 1, slot, _CLOSE if self.said_before("of") else _NEAR))
        return slot

    def stems_of(self, slot: int) -> tuple[str, ...]:
        return self.meanings.stems.of_everything(self.sketch.slots[slot].text)

    def implied(self, hint: str, text: str, thing: int) -> int | None:
        """A measure nobody named: the longest thing has a length."""
        if not (found := self.meanings.measures(hint)):
            self.leave(text)
            return None
        slot = self.sketch.add(text, found, implied=True)
        self.sketch.bonds.append(Bond(thing, slot, BOUND, measured=True))
        return slot

    def show(self, wish: Wish) -> None:
        if not self.open:
            return
        if self.replacing:
            self._spoken_of |= {each.slot for each in self.sketch.shown}
            self.sketch.shown.clear()
            self.replacing = False
        if self._spoken_of:
            self.sketch.bonds.append(Bond(min(self._spoken_of), wish.slot, _NEAR))
        self.sketch.shown.append(wish)

    def show_implied(self, text: str, meanings: tuple[Meaning, ...]) -> None:
        if meanings:
            self.sketch.shown.append(Wish(self.sketch.add("", meanings, implied=True)))
            self.open = False
        else:
            self.leave(text)

    def wish(self, noun: Noun, slot: int) -> Wish:
        """What the folds announced make of a noun: numbers are added up, things are counted."""
        folds, self.pending.folds = self.pending.folds, []
        if not folds:
            return Wish(slot)
        if self.nature.is_measure(noun):
            others = [fold for fold in folds if fold is not Fold.COUNT]
            return Wish(slot, others[0] if others else Fold.SUM)
        if Fold.COUNT in folds:
            if Fold.AVERAGE in folds:
                self.leave("average")
            return Wish(slot, Fold.COUNT)
        if self.nature.holds(noun, "money") and (implied := self.implied("money", noun.text, slot)) is not None:
            return Wish(implied, folds[0])
        if folds[0] is not Fold.SUM:
            self.leave(noun.text)
        return Wish(slot, Fold.COUNT)

    def idle(self) -> list[str]:
        """Columns the question names and nothing was made of: it has not been understood."""
        used = self.sketch.used() | self._spoken_of | self.modifiers
        known = {self.stems_of(at) for at in used}
        slots = ((at, slot) for at, slot in enumerate(self.sketch.slots) if at not in used and not slot.implied)
        return [slot.text for at, slot in slots if self.stems_of(at) not in known and self.nature.is_plain_column(slot)]
