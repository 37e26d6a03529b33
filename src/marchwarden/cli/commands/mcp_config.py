"""`marchwarden mcp-config`: print the configuration for an MCP client."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from marchwarden.cli import options
from marchwarden.cli.environment import KEYS, VARIABLES
from marchwarden.core.inputs import Inputs
from marchwarden.settings import expand_home
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.settings import Settings

PLACES = {
    "claude-desktop": "claude_desktop_config.json (Settings > Developer > Edit Config)",
    "claude-code": ".mcp.json in your project",
    "cursor": ".cursor/mcp.json in your project, or ~/.cursor/mcp.json",
    "vscode": ".vscode/mcp.json in your project",
}
_SHELL_ONLY = frozenset({"MARCHWARDEN_DB", "MARCHWARDEN_DEBUG"})
"""Variables for commands typed in a shell. They are not copied into the configuration."""


@click.command("mcp-config", cls=options.InputCommand)
@click.argument("client", type=click.Choice([*PLACES]))
@options.inputs
@click.option("--name", default="marchwarden", show_default=True, help="Name of the server in the MCP client.")
@click.pass_obj
def mcp_config(settings: "Settings", client: str, inputs: "Inputs", name: str) -> None:
    """Print the configuration for an MCP client, as JSON. It refers to API keys by name and never contains them.

    \b
    marchwarden mcp-config claude-desktop --files docs/wiki
    marchwarden mcp-config vscode
    """
    arguments = [*_command(), "serve", *_serve_arguments(inputs)]
    click.echo(json_text(_snippet(client, name, arguments, settings.environ), indent=2))
    click.echo(f"add this to {PLACES[client]}", err=True)
    keys = [each.name for each in KEYS if settings.environ.get(each.name)]
    if keys and client == "claude-desktop":
        click.echo(f'keys are not printed: add {", ".join(keys)} to its "env" yourself', err=True)


def _serve_arguments(inputs: "Inputs") -> list[str]:
    """Return the arguments of `serve`: the only kind with inputs, else the PI. Raises `InvalidInput` for bad inputs."""
    from marchwarden.cli.selection import Selection
    from marchwarden.researchers.registry import researcher_specs

    specs = [spec for spec in researcher_specs().values() if spec.own_inputs(inputs)]
    values = [(option, value) for spec in specs for option in spec.inputs for value in inputs[option.name]]
    absolute = [(option, _absolute(value) if option.is_path else value) for option, value in values]
    Selection(inputs=Inputs.of({each.name: [v for option, v in absolute if option is each] for each, _ in absolute}))
    is_alone = len(specs) == 1 and not any(option.one_member_each for option in specs[0].inputs)
    flags = [part for option, value in absolute for part in (option.flag, value)]
    return [specs[0].kind if is_alone else "pi", *flags]


def _snippet(client: str, name: str, arguments: list[str], environ: Mapping[str, str]) -> Mapping[str, object]:
    server: dict[str, object] = {"command": arguments[0], "args": arguments[1:]}
    keys = [each.name for each in KEYS if environ.get(each.name)]
    plain = _public_settings(environ)
    match client:
        case "vscode":
            env = {**plain, **{key: f"${{input:{key}}}" for key in keys}}
            server = {"type": "stdio", **server, **({"env": env} if env else {})}
            prompts = [{"type": "promptString", "id": key, "description": key, "password": True} for key in keys]
            return {**({"inputs": prompts} if prompts else {}), "servers": {name: server}}
        case "claude-code":
            server = {"type": "stdio", **server}
            env = {**plain, **{key: f"${{{key}}}" for key in keys}}
        case "cursor":
            env = {**plain, **{key: f"${{env:{key}}}" for key in keys}}
        case _:
            env = plain
    return {"mcpServers": {name: {**server, **({"env": env} if env else {})}}}


def _public_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are not secret. The client runs in another folder, without this `.env`."""
    public = {}
    for each in VARIABLES:
        value = environ.get(each.name, "")
        if value and not each.is_key and each.name not in _SHELL_ONLY and not _has_password(value):
            is_folder = each.is_path and "://" not in value
            public[each.name] = str(expand_home(value).absolute()) if is_folder else value
    return public


def _command() -> list[str]:
    """Return the `marchwarden` command with its full path: the client may have another PATH."""
    script = Path(sys.executable).with_name("marchwarden")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "marchwarden"]


def _absolute(path_or_url: str) -> str:
    from marchwarden.errors import InvalidInput

    if "://" not in path_or_url:
        return str(expand_home(path_or_url).absolute())
    if _has_password(path_or_url):
        raise InvalidInput("the configuration must not contain a password: remove it from the URL and set PGPASSWORD")
    return path_or_url


def _has_password(address: str) -> bool:
    """Return whether a URL contains a password or cannot be parsed."""
    try:
        return bool(urlsplit(address).password)
    except ValueError:
        return True
