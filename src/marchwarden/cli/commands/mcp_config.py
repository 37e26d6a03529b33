"""The command that prints how an MCP host is told about us: the JSON on stdout, where it goes on stderr."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from marchwarden.cli import options
from marchwarden.cli.environment import KEYS, VARIABLES
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.settings import Settings

PLACES = {
    "claude-desktop": "claude_desktop_config.json (Settings > Developer > Edit Config)",
    "claude-code": ".mcp.json in your project",
    "cursor": ".cursor/mcp.json in your project, or ~/.cursor/mcp.json",
    "vscode": ".vscode/mcp.json in your project",
}
_OWN = frozenset({"MARCHWARDEN_DB", "MARCHWARDEN_DEBUG"})
"""Variables that are about a command typed here, and nothing for a host."""


@click.command("mcp-config")
@click.argument("host", type=click.Choice([*PLACES]))
@options.readings
@click.option("--name", default="marchwarden", show_default=True, help="What the host will call it.")
@click.pass_obj
def mcp_config(
    settings: "Settings", host: str, folders: tuple[str, ...], databases: tuple[str, ...], name: str
) -> None:
    """Print the configuration that lets an MCP host ask Marchwarden. Keys are referred to, never printed.

    \b
    marchwarden mcp-config claude-desktop --files docs/wiki
    marchwarden mcp-config vscode
    """
    from marchwarden.cli.selection import Selection

    choice = Selection(folders=tuple(str(Path(folder).expanduser().absolute()) for folder in folders))
    arguments = [*_command(), "serve", "pi" if databases or not folders else "files"]
    arguments += [part for folder in choice.folders for part in ("--files", folder)]
    arguments += [part for each in databases for part in ("--db", _database(each))]
    click.echo(json_text(_snippet(host, name, arguments, settings.environ), indent=2))
    click.echo(f"add this to {PLACES[host]}", err=True)
    keys = [each.name for each in KEYS if settings.environ.get(each.name)]
    if keys and host == "claude-desktop":
        click.echo(f'keys are not printed: write {", ".join(keys)} into its "env" yourself', err=True)


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
    """Every setting that is no secret: a host stands in another folder, without our `.env` and our relative paths."""
    told = {}
    for each in VARIABLES:
        value = environ.get(each.name, "")
        if value and not each.is_key and each.name not in _OWN and not _password(value):
            is_folder = each.is_path and "://" not in value
            told[each.name] = str(Path(value).expanduser().absolute()) if is_folder else value
    return told


def _command() -> list[str]:
    """Ours by its whole path: a host has another PATH than the shell."""
    script = Path(sys.executable).with_name("marchwarden")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "marchwarden"]


def _database(named: str) -> str:
    from marchwarden.errors import InvalidInput

    if "://" not in named:
        return str(Path(named).expanduser().absolute())
    if _password(named):
        raise InvalidInput("leave the password out of the URL: it would stand in a file; set PGPASSWORD instead")
    return named


def _password(address: str) -> bool:
    """Whether it says one, or cannot be read, so that nobody knows."""
    try:
        return bool(urlsplit(address).password)
    except ValueError:
        return True
