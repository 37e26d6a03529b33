"""Papers as documents: located at their version, cited by author and year, leading where the paper leads."""

from collections.abc import Iterable
from dataclasses import replace

from marchwarden.core.notebook import Document, Link
from marchwarden.researchers.arxiv.fulltext import Whole
from marchwarden.researchers.arxiv.models import SOURCE, Paper
from marchwarden.researchers.arxiv.references import references
from marchwarden.researchers.arxiv.sections import sections
from marchwarden.text.sanitize import one_line


def paper_in_full(paper: Paper, whole: Whole) -> Document:
    """The paper's own text. A PDF is located by its pages, an HTML page by its sections."""
    extracted = whole.extracted
    document = extracted.document(SOURCE, paper.id.locator, whole.content)
    marked = replace(document, marks=document.marks or sections(extracted.text))
    return _described(marked, paper, references(paper, extracted.text, extracted.links))


def abstract_of(paper: Paper) -> Document:
    """What arXiv says about the paper: its abstract, and who wrote and printed it. The content is arXiv's own entry."""
    text = "\n\n".join(_told(paper))
    document = Document(SOURCE, paper.id.locator, paper.entry, text, media_type="application/atom+xml")
    return _described(replace(document, marks=sections(text)), paper, references(paper, text))


def _told(paper: Paper) -> Iterable[str]:
    yield paper.title
    yield "Abstract"
    yield paper.abstract
    lines = {
        "Authors": ", ".join(paper.authors),
        "Comments": paper.comment,
        "Journal reference": paper.journal,
        "DOI": paper.doi,
    }
    yield from (f"{name}: {line}." for name, line in lines.items() if line)


def _described(document: Document, paper: Paper, links: tuple[Link, ...]) -> Document:
    return replace(
        document,
        title=paper.citation,
        author=one_line(", ".join(paper.authors)),
        published=paper.updated,
        authority=paper.authority,
        links=links,
    )
