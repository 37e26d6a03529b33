"""The command that lists researchers: who can be asked, what each is for, and whether it answers."""

from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.orchestrator.external import Health
    from marchwarden.settings import Settings


@click.command()
@options.as_json("The list as JSON.")
@click.pass_obj
def researchers(settings: "Settings", as_json: bool) -> int:
    """List the researchers that can be asked: built in, and registered in researchers.toml. Exit 1 if one is down.

    \b
    marchwarden researchers
    marchwarden researchers --json
    """
    import anyio

    from marchwarden.orchestrator.external import ExternalRegistry, check_health

    registry = ExternalRegistry.load(settings.researchers, settings.environ)
    found = [*_built_in(settings), *anyio.run(check_health, registry)]
    if as_json:
        click.echo(json_text([vars(each) for each in found]))
    else:
        from rich.console import Console

        from marchwarden.cli import formatter

        Console(highlight=False).print(formatter.healths(found))
    return 0 if all(each.well for each in found) else 1


def _built_in(settings: "Settings") -> "list[Health]":
    from marchwarden.contract import CONTRACT_VERSION
    from marchwarden.orchestrator.external import Health
    from marchwarden.researchers.arxiv.agent import PURPOSE as PAPERS
    from marchwarden.researchers.database.agent import PURPOSE as ROWS
    from marchwarden.researchers.files.agent import PURPOSE as FILES
    from marchwarden.researchers.web.agent import PURPOSE as PAGES

    searched = "Tavily" if settings.environ.get("TAVILY_API_KEY") else "Wikipedia alone: set TAVILY_API_KEY for more"
    if settings.environ.get("MARCHWARDEN_SEARXNG_URL") and not settings.environ.get("TAVILY_API_KEY"):
        searched = "SearXNG"
    state = {
        "files": ("asked where --files PATH is given", FILES),
        "database": ("asked where --db URL_OR_PATH is given", ROWS),
        "web": (f"searches through {searched}", PAGES),
        "arxiv": ("needs no key; `marchwarden arxiv add ID` keeps papers for offline", PAPERS),
    }
    return [Health(name, CONTRACT_VERSION, told, purpose) for name, (told, purpose) in state.items()]
