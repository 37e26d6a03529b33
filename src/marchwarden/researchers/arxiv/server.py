"""The arXiv researcher as an MCP server: `python -m marchwarden.researchers.arxiv`."""

import os

import click


@click.command("arxiv")
@click.option("--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP there instead of stdio.")
@click.option("--token-env", metavar="VAR", help="The variable that holds the bearer token HTTP callers must send.")
@click.option("--service", "described", metavar="FILE", help="Who may call over HTTP and how much: a TOML file.")
@click.option("--allow-host", "hosts", multiple=True, metavar="HOST", help="A Host header to answer to; repeatable.")
def serve_arxiv(address: str | None, token_env: str | None, described: str | None, hosts: tuple[str, ...]) -> None:
    """Serve the arXiv researcher over MCP, on stdio or HTTP.

    Searches arXiv, or the mirror at MARCHWARDEN_ARXIV_URL, and the papers of the local library.

    \b
    marchwarden serve arxiv
    marchwarden serve arxiv --http 127.0.0.1:8732 --token-env MY_TOKEN
    """
    # The MCP library takes a second to load: `--help` does not pay for it.
    from marchwarden.errors import InvalidInput
    from marchwarden.logs.setup import set_up
    from marchwarden.mcp.serve import ServeOptions, serve
    from marchwarden.minds.select import select_mind
    from marchwarden.researchers.arxiv.agent import NAME, PURPOSE, ArxivResearcher
    from marchwarden.settings import Settings

    settings = Settings.of(os.environ)
    try:
        set_up(settings.environ)
        mind = select_mind(None, settings.environ)
        researcher = ArxivResearcher(settings.environ, mind=mind, trace_dir=settings.trace_dir)
        stand = ServeOptions(address, token_env, described, hosts)
        serve(researcher, researcher.store, name=NAME, purpose=PURPOSE, stand=stand, settings=settings)
    except InvalidInput as error:
        raise click.UsageError(str(error)) from error
