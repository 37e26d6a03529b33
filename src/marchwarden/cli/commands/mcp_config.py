"""`marchwarden mcp-config`: print the JSON for an MCP client on stdout, and where it belongs on stderr."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from marchwarden.cli import options
from marchwarden.cli.environment import KEYS, VARIABLES
from marchwarden.core.inputs import Inputs
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.settings import Settings

PLACES = {
    "claude-desktop": "claude_desktop_config.json (Settings > Developer > Edit Config)",
    "claude-code": ".mcp.json in your project",
    "cursor": ".cursor/mcp.json in your project, or ~/.cursor/mcp.json",
    "vscode": ".vscode/mcp.json in your project",
}
_NOT_FOR_HOSTS = frozenset({"MARCHWARDEN_DB", "MARCHWARDEN_DEBUG"})
"""Variables for commands typed in a shell."""


@click.command("mcp-config", cls=options.InputCommand)
@click.argument("host", type=click.Choice([*PLACES]))
@options.inputs
@click.option("--name", default="marchwarden", show_default=True, help="Name of the server in the MCP client.")
@click.pass_obj
def mcp_config(settings: "Settings", host: str, inputs: "Inputs", name: str) -> None:
    """Print the configuration for an MCP client. It refers to API keys by name and never contains them.

    \b
    marchwarden mcp-config claude-desktop --files docs/wiki
    marchwarden mcp-config vscode
    """
    arguments = [*_command(), "serve", *_serve_arguments(inputs)]
    click.echo(json_text(_snippet(host, name, arguments, settings.environ), indent=2))
    click.echo(f"add this to {PLACES[host]}", err=True)
    keys = [each.name for each in KEYS if settings.environ.get(each.name)]
    if keys and host == "claude-desktop":
        click.echo(f'keys are not printed: add {", ".join(keys)} to its "env" yourself', err=True)


def _serve_arguments(inputs: "Inputs") -> list[str]:
    """Return the researcher to serve and its inputs: the only kind given, else the PI."""
    from marchwarden.cli.selection import Selection
    from marchwarden.researchers.registry import researcher_specs

    specs = [spec for spec in researcher_specs().values() if spec.own_inputs(inputs)]
    given = [(option, value) for spec in specs for option in spec.inputs for value in inputs[option.name]]
    absolute = [(option, _absolute(value) if option.is_path else value) for option, value in given]
    Selection(inputs=Inputs.of({each.name: [v for option, v in absolute if option is each] for each, _ in absolute}))
    is_alone = len(specs) == 1 and not any(option.one_member_each for option in specs[0].inputs)
    options_given = [part for option, value in absolute for part in (option.flag, value)]
    return [specs[0].kind if is_alone else "pi", *options_given]


def _snippet(host: str, name: str, arguments: list[str], environ: Mapping[str, str]) -> Mapping[str, object]:
    server: dict[str, object] = {"command": arguments[0], "args": arguments[1:]}
    keys = [each.name for each in KEYS if environ.get(each.name)]
    plain = _plain(environ)
    match host:
        case "vscode":
            env = {**plain, **{key: f"${{input:{key}}}" for key in keys}}
            server = {"type": "stdio", **server, **({"env": env} if env else {})}
            asked = [{"type": "promptString", "id": key, "description": key, "password": True} for key in keys]
            return {**({"inputs": asked} if asked else {}), "servers": {name: server}}
        case "claude-code":
            server = {"type": "stdio", **server}
            env = {**plain, **{key: f"${{{key}}}" for key in keys}}
        case "cursor":
            env = {**plain, **{key: f"${{env:{key}}}" for key in keys}}
        case _:
            env = plain
    return {"mcpServers": {name: {**server, **({"env": env} if env else {})}}}


def _plain(environ: Mapping[str, str]) -> dict[str, str]:
    """Return every setting that is no secret: the client runs in another folder, without our `.env`."""
    found = {}
    for each in VARIABLES:
        value = environ.get(each.name, "")
        if value and not each.is_key and each.name not in _NOT_FOR_HOSTS and not _password(value):
            is_folder = each.is_path and "://" not in value
            found[each.name] = str(Path(value).expanduser().absolute()) if is_folder else value
    return found


def _command() -> list[str]:
    """Return our command with its full path: the client has another PATH than the shell."""
    script = Path(sys.executable).with_name("marchwarden")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "marchwarden"]


def _absolute(path_or_url: str) -> str:
    from marchwarden.errors import InvalidInput

    if "://" not in path_or_url:
        return str(Path(path_or_url).expanduser().absolute())
    if _password(path_or_url):
        raise InvalidInput("leave the password out of the URL, which is stored in a file; set PGPASSWORD instead")
    return path_or_url


def _password(address: str) -> bool:
    """Return whether a URL holds a password, or cannot be parsed."""
    try:
        return bool(urlsplit(address).password)
    except ValueError:
        return True
