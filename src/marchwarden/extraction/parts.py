"""Join the parts of a document that a locator can name, such as pages or chapters."""

from dataclasses import dataclass

from marchwarden.core.notebook import Mark
from marchwarden.extraction.limits import check_length


@dataclass(frozen=True)
class DocumentPart:
    """A part of a document and the fragment that names it, such as `page=3`."""

    fragment: str
    text: str


def join_parts(parts: list[DocumentPart]) -> tuple[str, tuple[Mark, ...]]:
    """Join the parts to one text and mark where each begins."""
    marks: list[Mark] = []
    pieces: list[str] = []
    length = 0
    for part in parts:
        if not part.text.strip():
            continue
        marks.append(Mark(length, part.fragment))
        pieces.append(part.text.strip())
        length += len(pieces[-1]) + 2
        check_length(length)
    return "\n\n".join(pieces), tuple(marks)
