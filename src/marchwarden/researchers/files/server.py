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
@click.option("--allow-host", "hosts", multiple=True, metavar="HOST", help="A Host header to answer to; repeatable.")
def serve_files(folders: tuple[str, ...], address: str | None, token_env: str | None, hosts: tuple[str, ...]) -> None:
    """Serve the files researcher over MCP, on stdio or HTTP.

    \b
    marchwarden serve files --files docs/wiki
    marchwarden serve files --files docs --http 127.0.0.1:8730 --token-env TOKEN
    """
    # The MCP library takes a second to load: `--help` does not pay for it.
    from marchwarden.errors import InvalidInput
    from marchwarden.logs.setting import set_up
    from marchwarden.minds.choosing import chosen_mind
    from marchwarden.researchers.files.agent import NAME, PURPOSE, FilesResearcher
    from marchwarden.settings import Settings
    from marchwarden.wire.server import build_server
    from marchwarden.wire.serving import serve

    settings = Settings.of(os.environ)
    try:
        set_up(settings.environ)
        mind = chosen_mind(None, settings.environ)
        researcher = FilesResearcher(*folders, mind=mind, trace_dir=settings.trace_dir, index_dir=settings.index_dir)
        server = build_server(researcher, name=NAME, purpose=PURPOSE, read_trace=researcher.store.text)
        serve(server, address, token=settings.secret(token_env), allowed_hosts=hosts)
    except InvalidInput as error:
        raise click.UsageError(str(error)) from error
