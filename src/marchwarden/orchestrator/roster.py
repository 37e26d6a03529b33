"""The researchers that a PI can ask, and how well each fits a question."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from marchwarden.errors import InvalidInput
from marchwarden.protocols import Researcher
from marchwarden.text.words import WordStemmer

NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")

GIVEN: Final = 1.0
"""Fit of a researcher whose sources the caller selected for this question."""
GENERAL: Final = 0.8
"""Fit of a researcher without a declared scope."""
IN_SCOPE: Final = 0.9
OUT_OF_SCOPE: Final = 0.3


@dataclass(frozen=True)
class Member:
    """One researcher with its name, its purpose and the settings to rebuild it from a trace.

    `scope` lists words that its questions contain; an empty scope accepts all questions. `given` means that the caller
    selected its sources for this question.
    """

    name: str
    purpose: str
    researcher: Researcher = field(repr=False)
    scope: tuple[str, ...] = ()
    given: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise InvalidInput(f"a researcher is named in small letters, digits, - and _: not {self.name!r}")


class Roster:
    """All members in a fixed order. Names are unique."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = {member.name: member for member in members}
        if len(self._members) < len(members):
            raise InvalidInput("two researchers have the same name")
        self._stems = WordStemmer()

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def __len__(self) -> int:
        return len(self._members)

    def get(self, name: str | None) -> Member | None:
        return self._members.get(name or "")

    def fit(self, member: Member, question: str) -> float:
        """Return how well a question fits the member's declared scope."""
        if member.given:
            return GIVEN
        if not member.scope:
            return GENERAL
        question_stems = set(self._stems.content_stems(question))
        return IN_SCOPE if question_stems & set(self._stems.content_stems(" ".join(member.scope))) else OUT_OF_SCOPE

    def by_fit(self, question: str) -> list[tuple[Member, float]]:
        """Return all members, best fit first. Ties keep their order."""
        fits = [(member, self.fit(member, question)) for member in self]
        return sorted(fits, key=lambda each: -each[1])

    def guide(self) -> str:
        """Describe the members to a mind."""
        lines = [f"{member.name}: {member.purpose}" for member in self]
        return "\n".join(["Researchers that can be asked. Write each query as NAME: what to ask.", *lines])

    def parse_address(self, text: str) -> tuple[Member | None, str]:
        """Split a query such as `arxiv: span of suspension bridges` into the member and the question."""
        name, colon, rest = text.partition(":")
        member = self.get(name.strip().casefold()) if colon else None
        return (member, rest.strip()) if member and rest.strip() else (None, text)
