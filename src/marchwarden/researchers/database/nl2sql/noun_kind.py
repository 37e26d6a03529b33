"""Classify nouns: measures, dates, booleans, relations, verbs. Does not know the question around them."""

from typing import Final

from marchwarden.researchers.database.models import ColumnKind
from marchwarden.researchers.database.nl2sql.meanings import MeaningIndex, SchemaMeaning
from marchwarden.researchers.database.nl2sql.mentions import Noun
from marchwarden.researchers.database.nl2sql.sketch import Slot
from marchwarden.researchers.database.nl2sql.thesaurus import load_thesaurus

SURE_FIT: Final = 0.8
_SIMILAR_FIT: Final = 0.15
_LIKELY_FIT: Final = 0.7
_NEVER_VERBS: Final = frozenset({"name", "location", "place", "time", "order", "orders"})


class NounClassifier:
    """Classifies nouns by their most likely meaning."""

    def __init__(self, meanings: MeaningIndex) -> None:
        self._meanings = meanings
        self._dates = {each.column_ref for each in meanings.date_columns()}

    def is_measure(self, noun: Noun | Slot) -> bool:
        """Whether all likely meanings of the noun are numbers that can be summed."""
        best = noun.meanings[0].fit
        return all(each.column and self._is_number(each) for each in noun.meanings if each.fit >= best - _SIMILAR_FIT)

    def is_date(self, noun: Noun | Slot) -> bool:
        """Whether words like `hired` and `invoice date` mean a date."""
        return noun.meanings[0].column_ref in self._dates

    def is_relation(self, noun: Noun | Slot) -> bool:
        return self._meanings.is_relation(noun.meanings[0])

    def is_boolean(self, noun: Noun) -> bool:
        return self._meanings.is_boolean(noun.meanings[0])

    def is_verb(self, noun: Noun) -> bool:
        """Whether a word that also names something in the schema is more likely a verb."""
        text = noun.text.casefold()
        return text.endswith("ed") or (text in load_thesaurus().connecting and text not in _NEVER_VERBS)

    def is_plain_verb(self, noun: Noun) -> bool:
        """Whether a verb names nothing else: `cited`, but not `hired` (a date) and `border` (a relation)."""
        means_more = self.is_relation(noun) or self.is_date(noun) or self.is_boolean(noun)
        return bool(noun.meanings[0].column) and self.is_verb(noun) and not means_more

    def is_head(self, noun: Noun) -> bool:
        """Whether a noun after another is the head of both, as in `customer name`."""
        return not self.is_relation(noun) and not self.is_verb(noun) and noun.meanings[0].fit >= SURE_FIT

    def is_plain_column(self, slot: Slot) -> bool:
        """Whether the words certainly name a column, and nothing else."""
        best = slot.meanings[0]
        plain = bool(best.column) and not best.entity and best.fit >= SURE_FIT and not self.is_relation(slot)
        return plain and not (self.is_date(slot) and slot.text.casefold().endswith("ed"))

    def has_measure(self, noun: Noun, hint: str) -> bool:
        """Whether the rows that a noun names have a measure of that kind."""
        table = noun.meanings[0].table
        return any(each.table == table and each.fit > _LIKELY_FIT for each in self._meanings.measures(hint))

    def _is_number(self, meaning: SchemaMeaning) -> bool:
        column = self._meanings.column(meaning.column_ref)
        return column.kind is not ColumnKind.DATETIME and self._meanings.is_measure(column)
