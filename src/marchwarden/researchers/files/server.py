"""The files researcher as an MCP server: `python -m marchwarden.researchers.files`."""

import os

import click


@click.command("files")
@click.option(
    "--files",
    "folders",
    multiple=True,
    required=True,
    metavar="PATH",
    help="A folder or file to answer from; repeatable.",
)
@click.option("--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP there instead of stdio.")
@click.option("--token-env", metavar="VAR", help="The variable that holds the bearer token HTTP callers must send.")
@click.option("--service", "described", metavar="FILE", help="Who may call over HTTP and how much: a TOML file.")
@click.option("--allow-host", "hosts", multiple=True, metavar="HOST", help="A Host header to answer to; repeatable.")
def serve_files(
    folders: tuple[str, ...], address: str | None, token_env: str | None, described: str | None, hosts: tuple[str, ...]
) -> None:
    """Serve the files researcher over MCP, on stdio or HTTP.

    \b
    marchwarden serve files --files docs/wiki
    marchwarden serve files --files docs --http 127.0.0.1:8730 --token-env TOKEN
    """
    # The MCP library takes a second to load: `--help` does not pay for it.
    from marchwarden.errors import InvalidInput
    from marchwarden.logs.setup import set_up
    from marchwarden.mcp.serve import ServeOptions, serve
    from marchwarden.minds.select import select_mind
    from marchwarden.researchers.files.agent import NAME, PURPOSE, FilesResearcher
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store

    settings = Settings.of(os.environ)
    try:
        set_up(settings.environ)
        mind = select_mind(None, settings.environ)
        store = Store.at(settings.trace_dir, settings.environ)
        researcher = FilesResearcher(*folders, mind=mind, trace_dir=store, index_dir=settings.index_dir)
        stand = ServeOptions(address, token_env, described, hosts)
        serve(researcher, researcher.store, name=NAME, purpose=PURPOSE, stand=stand, settings=settings)
    except InvalidInput as error:
        raise click.UsageError(str(error)) from error
