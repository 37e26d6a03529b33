"""What sort of word a noun is: a measure, a moment, a verb in disguise. Knows nothing of the question around it."""

from typing import Final

from marchwarden.researchers.database.models import Kind
from marchwarden.researchers.database.nl2sql.meanings import Meaning, Meanings
from marchwarden.researchers.database.nl2sql.mentions import Noun
from marchwarden.researchers.database.nl2sql.sketch import Slot
from marchwarden.researchers.database.nl2sql.thesaurus import LIGHT

SURE: Final = 0.8
_ALIKE: Final = 0.15
_LIKELY: Final = 0.7
_NEVER_VERBS: Final = frozenset({"name", "location", "place", "time", "order", "orders"})


class Nature:
    """Judges nouns by what they most likely mean."""

    def __init__(self, meanings: Meanings) -> None:
        self._meanings = meanings
        self._moments = {each.place for each in meanings.moments()}

    def is_measure(self, noun: Noun | Slot) -> bool:
        """Whether all that the noun most likely means are numbers worth adding up."""
        best = noun.meanings[0].fit
        return all(each.column and self._is_number(each) for each in noun.meanings if each.fit >= best - _ALIKE)

    def is_moment(self, noun: Noun | Slot) -> bool:
        """Whether words like `hired` and `invoice date` mean a moment."""
        return noun.meanings[0].place in self._moments

    def is_relation(self, noun: Noun | Slot) -> bool:
        return self._meanings.is_relation(noun.meanings[0])

    def is_truth(self, noun: Noun) -> bool:
        return self._meanings.is_truth(noun.meanings[0])

    def is_verb(self, noun: Noun) -> bool:
        """Whether a word that happens to name something in the schema rather tells what things do to each other."""
        text = noun.text.casefold()
        return text.endswith("ed") or (text in LIGHT and text not in _NEVER_VERBS)

    def is_mere_verb(self, noun: Noun) -> bool:
        """`references cited`; but `hired` tells of a date, and `border` of other states."""
        told = self.is_relation(noun) or self.is_moment(noun) or self.is_truth(noun)
        return bool(noun.meanings[0].column) and self.is_verb(noun) and not told

    def is_head(self, noun: Noun) -> bool:
        """Whether a noun after another is what the two are about, as in `customer name`."""
        return not self.is_relation(noun) and not self.is_verb(noun) and noun.meanings[0].fit >= SURE

    def is_plain_column(self, slot: Slot) -> bool:
        """Whether the words surely name a column that is no more than that."""
        best = slot.meanings[0]
        plain = bool(best.column) and not best.entity and best.fit >= SURE and not self.is_relation(slot)
        return plain and not (self.is_moment(slot) and slot.text.casefold().endswith("ed"))

    def holds(self, noun: Noun, hint: str) -> bool:
        """Whether the things a noun names have a measure of that kind."""
        table = noun.meanings[0].table
        return any(each.table == table and each.fit > _LIKELY for each in self._meanings.measures(hint))

    def _is_number(self, meaning: Meaning) -> bool:
        column = self._meanings.column(meaning.place)
        return column.kind is not Kind.MOMENT and self._meanings.is_measure(column)
