"""The command that serves: each researcher brings its own, this groups them and adds the PI over several."""

from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.researchers.arxiv.server import serve_arxiv
from marchwarden.researchers.database.server import serve_database
from marchwarden.researchers.files.server import serve_files
from marchwarden.researchers.web.server import serve_web

if TYPE_CHECKING:
    from marchwarden.settings import Settings


@click.group()
def serve() -> None:
    """Serve a researcher over MCP.

    \b
    marchwarden serve files --files docs/wiki
    marchwarden serve web
    """


@click.command("pi")
@options.readings
@options.researchers
@click.option("--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP there instead of stdio.")
@click.option("--token-env", metavar="VAR", help="The variable that holds the bearer token HTTP callers must send.")
@click.option("--service", "described", metavar="FILE", help="Who may call over HTTP and how much: a TOML file.")
@click.option("--allow-host", "hosts", multiple=True, metavar="HOST", help="A Host header to answer to; repeatable.")
@click.pass_obj
def serve_pi(
    settings: "Settings",
    folders: tuple[str, ...],
    databases: tuple[str, ...],
    researchers: tuple[str, ...],
    address: str | None,
    token_env: str | None,
    described: str | None,
    hosts: tuple[str, ...],
) -> None:
    """Serve the PI over MCP: one tool that asks several researchers at once.

    \b
    marchwarden serve pi --files docs --db shop.sqlite
    """
    from marchwarden.cli.selection import Selection
    from marchwarden.mcp.serve import ServeOptions
    from marchwarden.mcp.serve import serve as serving
    from marchwarden.orchestrator.pi import NAME, PURPOSE
    from marchwarden.storage.store import Store

    chosen = Selection(researchers, folders, databases).researcher(settings, settings.trace_dir, in_process=True)
    stand = ServeOptions(address, token_env, described, hosts)
    store = Store.at(settings.trace_dir, settings.environ)
    serving(chosen, store, name=NAME, purpose=PURPOSE, stand=stand, settings=settings)


for command in (serve_files, serve_database, serve_web, serve_arxiv, serve_pi):
    serve.add_command(command)
