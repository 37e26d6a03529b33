"""Convert papers to documents: located at their version, cited by author and year, with links to their references."""

from collections.abc import Iterable
from dataclasses import replace

from marchwarden.core.notebook import Document, Link
from marchwarden.researchers.arxiv.fulltext import PaperText
from marchwarden.researchers.arxiv.models import SOURCE, Paper
from marchwarden.researchers.arxiv.references import find_references
from marchwarden.researchers.arxiv.sections import find_sections
from marchwarden.text.sanitize import one_line


def full_text_document(paper: Paper, paper_text: PaperText) -> Document:
    """Build a document from a full text. PDFs are located by page, HTML pages by section."""
    extracted = paper_text.extracted
    document = extracted.to_document(SOURCE, paper.id.locator, paper_text.content)
    marked = replace(document, marks=document.marks or find_sections(extracted.text))
    return _with_metadata(marked, paper, find_references(paper, extracted.text, extracted.links))


def abstract_document(paper: Paper) -> Document:
    """Build a document from the abstract and the bibliographic data. Its content is arXiv's Atom entry."""
    text = "\n\n".join(_abstract_lines(paper))
    document = Document(SOURCE, paper.id.locator, paper.entry, text, media_type="application/atom+xml")
    return _with_metadata(replace(document, marks=find_sections(text)), paper, find_references(paper, text))


def _abstract_lines(paper: Paper) -> Iterable[str]:
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


def _with_metadata(document: Document, paper: Paper, links: tuple[Link, ...]) -> Document:
    return replace(
        document,
        title=paper.citation,
        author=one_line(", ".join(paper.authors)),
        published=paper.updated,
        authority=paper.authority,
        links=links,
    )
