"""`marchwarden arxiv`: add, list, info and remove papers of the offline library. Only `add` uses the network."""

from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.cli.help import CommandGroup
from marchwarden.text.sanitize import json_text, one_line, visible

if TYPE_CHECKING:
    from marchwarden.researchers.arxiv.library import Library, LibraryPaper
    from marchwarden.settings import Settings


@click.group(cls=CommandGroup)
def arxiv() -> None:
    """Manage a library of arXiv papers that is searched offline.

    \b
    marchwarden arxiv add 2104.12255
    marchwarden arxiv list
    """


@arxiv.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.pass_obj
def add(settings: "Settings", ids: tuple[str, ...]) -> int:
    """Download papers: the latest version, or the version in the ID.

    \b
    marchwarden arxiv add 2104.12255 quant-ph/0201082v1
    """
    import anyio

    from marchwarden.researchers.arxiv.agent import arxiv_source
    from marchwarden.researchers.arxiv.identifiers import ArxivId
    from marchwarden.researchers.arxiv.tools import add_paper
    from marchwarden.storage.store import Store

    paper_ids = [ArxivId.parse(text) for text in ids]
    source = arxiv_source(settings.environ, Store.to_write(settings))
    failed = 0
    for paper_id in dict.fromkeys(paper_ids):
        outcome = anyio.run(add_paper, source, paper_id)
        failed += not outcome.saved
        click.echo(visible(outcome.message), err=not outcome.saved)
    source.close()
    return 1 if failed else 0


@arxiv.command("list")
@options.as_json("Print the list as JSON.")
@click.pass_obj
def list_(settings: "Settings", as_json: bool) -> None:
    """List the papers in the library, newest first.

    \b
    marchwarden arxiv list --json
    """
    papers = _library(settings).papers()
    if as_json:
        click.echo(json_text([_as_json(each) for each in papers]))
    elif papers:
        for each in papers:
            click.echo(visible(f"{each.paper.id}  {each.paper.citation}"))
    else:
        click.echo("no papers in the library yet; add one with `marchwarden arxiv add ID`")


@arxiv.command()
@click.argument("id_", metavar="ID")
@options.as_json("Print the paper as JSON.")
@click.pass_obj
def info(settings: "Settings", id_: str, as_json: bool) -> None:
    """Show a paper in the library.

    \b
    marchwarden arxiv info 2104.12255
    """
    from marchwarden.errors import InvalidInput
    from marchwarden.researchers.arxiv.identifiers import ArxivId

    paper_id = ArxivId.parse(id_)
    paper = _library(settings).find(paper_id)
    if paper is None:
        raise InvalidInput(f"{paper_id} is not in the library; add it with `marchwarden arxiv add {paper_id}`")
    fields = _as_json(paper)
    if as_json:
        click.echo(json_text(fields))
        return
    for label, value in fields.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if text:
            click.echo(f"{label}: {one_line(text, 2_000)}")


@arxiv.command()
@click.argument("id_", metavar="ID")
@click.pass_obj
def remove(settings: "Settings", id_: str) -> None:
    """Remove a paper from the library. Runs that cite it keep their quotations.

    \b
    marchwarden arxiv remove 2104.12255
    """
    from marchwarden.errors import InvalidInput
    from marchwarden.researchers.arxiv.identifiers import ArxivId

    paper_id = ArxivId.parse(id_)
    if not _library(settings).remove(paper_id):
        raise InvalidInput(f"{paper_id} is not in the library")
    click.echo(f"removed {paper_id}")


def _library(settings: "Settings") -> "Library":
    from marchwarden.researchers.arxiv.library import Library
    from marchwarden.researchers.arxiv.models import library_folder

    return Library(library_folder(settings.environ))


def _as_json(stored: "LibraryPaper") -> dict[str, object]:
    paper = stored.paper
    return {
        "id": str(paper.id),
        "title": paper.title,
        "authors": list(paper.authors),
        "submitted": paper.submitted.isoformat(),
        "updated": paper.updated.isoformat(),
        "categories": list(paper.categories),
        "journal": paper.journal,
        "doi": paper.doi,
        "comment": paper.comment,
        "abstract": paper.abstract,
        "locator": paper.id.locator,
        "read_from": stored.media_type,
        "content_hash": stored.content_hash,
        "text_hash": stored.text_hash,
        "added": stored.added.isoformat(timespec="seconds"),
    }
