"""The command that serves: each researcher brings its own, this groups them."""

import click

from marchwarden.researchers.files.server import serve_files


@click.group()
def serve() -> None:
    """Serve a researcher over MCP.

    \b
    marchwarden serve files --files docs/wiki
    """


serve.add_command(serve_files)
