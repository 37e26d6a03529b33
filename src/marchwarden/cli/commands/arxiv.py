"""The `arxiv` commands: add, list, info and remove papers of the offline library. Only `add` uses the network."""

from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.researchers.arxiv.library import Library, LibraryPaper
    from marchwarden.settings import Settings


@click.group()
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

    names = [ArxivId.parse(written) for written in ids]
    source = arxiv_source(settings.environ, Store.at(settings.trace_dir, settings.environ))
    failed = 0
    for name in dict.fromkeys(names):
        done = anyio.run(add_paper, source, name)
        failed += not done.saved
        click.echo(done.message, err=not done.saved)
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
    kept = _library(settings).papers()
    if as_json:
        click.echo(json_text([_as_json(each) for each in kept]))
    elif kept:
        for each in kept:
            click.echo(f"{each.paper.id}  {each.paper.citation}")
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
    from marchwarden.text.sanitize import one_line

    name = ArxivId.parse(id_)
    kept = _library(settings).find(name)
    if kept is None:
        raise InvalidInput(f"{name} is not in the library; add it with `marchwarden arxiv add {name}`")
    described = _as_json(kept)
    if as_json:
        click.echo(json_text(described))
        return
    for label, value in described.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if shown:
            click.echo(f"{label}: {one_line(shown, 2_000)}")


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

    name = ArxivId.parse(id_)
    if not _library(settings).remove(name):
        raise InvalidInput(f"{name} is not in the library")
    click.echo(f"removed {name}")


def _library(settings: "Settings") -> "Library":
    from marchwarden.researchers.arxiv.library import Library
    from marchwarden.researchers.arxiv.models import library_folder

    return Library(library_folder(settings.environ))


def _as_json(kept: "LibraryPaper") -> dict[str, object]:
    paper = kept.paper
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
        "read_from": kept.media_type,
        "content_hash": kept.content_hash,
        "text_hash": kept.text_hash,
        "added": kept.added.isoformat(timespec="seconds"),
    }
