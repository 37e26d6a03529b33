"""The command that serves: each researcher brings its own, this groups them."""

import click

from marchwarden.researchers.files.server import serve_files
from marchwarden.researchers.web.server import serve_web


@click.group()
def serve() -> None:
    """Serve a researcher over MCP.

    \b
    marchwarden serve files --files docs/wiki
    marchwarden serve web
    """


serve.add_command(serve_files)
serve.add_command(serve_web)
