"""Rank the passages of a notebook by how well they match the question."""

from marchwarden.evidence.ranking.index import PassageIndex, Ranked
from marchwarden.evidence.ranking.reading_list import ReadingList, reading_list

__all__ = ["PassageIndex", "Ranked", "ReadingList", "reading_list"]
