"""Which passages of a notebook are worth reading, by the words they share with the question."""

from marchwarden.ranking.index import PassageIndex, Ranked
from marchwarden.ranking.reading import ReadingList, reading_list

__all__ = ["PassageIndex", "Ranked", "ReadingList", "reading_list"]
