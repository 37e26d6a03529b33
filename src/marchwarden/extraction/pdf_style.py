"""Measure how a PDF is set: the size and font of its body text, the distance of lines, the right edge of columns."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from marchwarden.extraction.pdf_lines import Line

_DEFAULT_LEADING: Final = 1.2
_FARTHEST: Final = 3.0
_NEAREST: Final = 0.7
_FEW: Final = 4
_EDGE_QUANTILE: Final = 0.8


@dataclass(frozen=True)
class Style:
    """What is usual in a document. `leadings`: the distance of lines by font size. `edges`: see `right_edge`."""

    size: float
    bold: bool
    mono: bool
    leadings: dict[float, float]
    edges: dict[tuple[int, int], float]

    def leading(self, size: float) -> float:
        return self.leadings.get(rounded(size)) or size * (
            self.leadings.get(rounded(self.size), self.size * _DEFAULT_LEADING) / self.size
        )

    def right_edge(self, line: Line) -> float:
        """Return where lines end that start where this one does, as far as lines of this page show it."""
        return max(self.edges.get((line.page, self.column(line) + near), line.right) for near in (-1, 0, 1))

    def column(self, line: Line) -> int:
        return round(line.left / (2 * self.size))


def rounded(size: float) -> float:
    """Return a font size, rounded so that equal ones compare equal."""
    return round(size * 2) / 2


def body_size(lines: Iterable[Line]) -> float:
    """Return the size of most characters."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[rounded(line.size)] += len(line.text)
    return max((size for size, _ in sizes.most_common(1)), default=10.0) or 1.0


def measure(lines: Sequence[Line]) -> Style:
    size = body_size(lines)
    body = [line for line in lines if rounded(line.size) == size]
    length = sum(len(line.text) for line in body)
    style = Style(
        size=size,
        bold=sum(len(line.text) for line in body if line.bold) * 2 > length,
        mono=sum(len(line.text) for line in body if line.mono) * 2 > length,
        leadings=_leadings(lines),
        edges={},
    )
    ends: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    for line in lines:
        ends[line.page, style.column(line)].append(line.right)
    style.edges.update({key: sorted(rights)[int(len(rights) * _EDGE_QUANTILE)] for key, rights in ends.items()})
    return style


def _leadings(lines: Sequence[Line]) -> dict[float, float]:
    distances: defaultdict[float, Counter[float]] = defaultdict(Counter)
    for above, below in pairwise(lines):
        distance = above.base - below.base
        size = rounded(below.size)
        if above.page == below.page and rounded(above.size) == size and _NEAREST * size < distance < _FARTHEST * size:
            distances[size][rounded(distance)] += 1
    return {
        size: counts.most_common(1)[0][0] for size, counts in distances.items() if counts.most_common(1)[0][1] >= _FEW
    }
