"""The inputs that the user gives researchers to read, such as folders and databases."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Inputs:
    """Values by the name of the input (`folders`, `databases`). Names without a value are left out. Hashable."""

    items: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Iterable[str]]) -> Self:
        pairs = ((name, tuple(each)) for name, each in values.items())
        return cls(tuple((name, each) for name, each in pairs if each))

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return dict(self.items).get(name, ())

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.items)

    def __bool__(self) -> bool:
        return bool(self.items)

    def only(self, names: Iterable[str]) -> Self:
        """Return the inputs of these names."""
        wanted = set(names)
        return type(self)(tuple((name, each) for name, each in self.items if name in wanted))

    def having(self, name: str, values: Iterable[str]) -> Self:
        """Return a copy with these values for one name."""
        return self.of({**dict(self.items), name: values})
