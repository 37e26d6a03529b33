"""`marchwarden serve`: serve a researcher over MCP. One subcommand per kind of researcher, and one for the PI."""

from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.cli.help import CommandGroup
from marchwarden.researchers.serve import check_store, serve_options

if TYPE_CHECKING:
    from marchwarden.core.inputs import Inputs
    from marchwarden.settings import Settings


class ServeGroup(CommandGroup):
    """A click group with a subcommand for each kind of researcher."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from marchwarden.researchers.registry import researcher_specs

        return sorted({*super().list_commands(ctx), *researcher_specs()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from marchwarden.researchers.registry import researcher_spec
        from marchwarden.researchers.serve import serve_command

        if command := super().get_command(ctx, cmd_name):
            return command
        spec = researcher_spec(cmd_name)
        return serve_command(spec) if spec else None


@click.group(cls=ServeGroup)
def serve() -> None:
    """Serve a researcher over MCP.

    \b
    marchwarden serve files --files docs/wiki
    marchwarden serve web
    """


@serve.command("pi", cls=options.InputCommand)
@options.inputs
@options.researchers
@serve_options
@click.pass_obj
def serve_pi(
    settings: "Settings",
    inputs: "Inputs",
    researchers: tuple[str, ...],
    address: str | None,
    token_env: str | None,
    service_file: str | None,
    allowed_hosts: tuple[str, ...],
) -> None:
    """Serve the PI over MCP: one tool that asks several researchers.

    \b
    marchwarden serve pi --files docs --db shop.sqlite
    """
    from marchwarden.cli.selection import Selection
    from marchwarden.mcp.serve import ServeOptions
    from marchwarden.mcp.serve import serve as serve_mcp
    from marchwarden.orchestrator.pi import NAME, PURPOSE
    from marchwarden.storage.store import Store

    check_store(settings)
    researcher = Selection(researchers, inputs).build(settings, settings.trace_dir, in_process=True)
    store = Store.at(settings.trace_dir, settings.environ)
    mcp_options = ServeOptions(address, token_env, service_file, allowed_hosts)
    serve_mcp(researcher, store, name=NAME, purpose=PURPOSE, options=mcp_options, settings=settings)
