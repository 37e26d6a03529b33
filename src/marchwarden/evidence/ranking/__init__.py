"""Which passages of a notebook are worth reading, by the words they share with the question."""

from marchwarden.evidence.ranking.index import PassageIndex, Ranked
from marchwarden.evidence.ranking.reading_list import ReadingList, reading_list

__all__ = ["PassageIndex", "Ranked", "ReadingList", "reading_list"]
