"""The command that prints how an MCP host is told about us: the JSON on stdout, where it goes on stderr."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from marchwarden.cli.variables import KEYS

if TYPE_CHECKING:
    from marchwarden.settings import Settings

PLACES = {
    "claude-desktop": "claude_desktop_config.json (Settings, Developer, Edit Config), then start Claude Desktop again",
    "claude-code": ".mcp.json in your project",
    "cursor": "~/.cursor/mcp.json, or .cursor/mcp.json in your project",
    "vscode": ".vscode/mcp.json in your project, or what `MCP: Open User Configuration` opens",
}
_PLAIN = ("MARCHWARDEN_HOME", "MARCHWARDEN_TRACE_DIR", "MARCHWARDEN_MODEL", "MARCHWARDEN_SEARXNG_URL", "PGUSER")


@click.command("mcp-config")
@click.argument("host", type=click.Choice([*PLACES]))
@click.option("--files", "folders", multiple=True, metavar="PATH", help="A folder or file to answer from; repeatable.")
@click.option("--db", "databases", multiple=True, metavar="URL_OR_PATH", help="A database to answer from; repeatable.")
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
    _refuse_missing(folders)
    arguments = [*_command(), "serve", "pi" if databases or not folders else "files"]
    arguments += [part for folder in folders for part in ("--files", str(Path(folder).expanduser().absolute()))]
    arguments += [part for each in databases for part in ("--db", _database(each))]
    click.echo(json.dumps(_snippet(host, name, arguments, settings.environ), indent=2, ensure_ascii=False))
    click.echo(f"goes into {PLACES[host]}; add it to what is there", err=True)
    missing = [each.name for each in KEYS if settings.environ.get(each.name)]
    if missing and host == "claude-desktop":
        click.echo(f'keys are not printed: write {", ".join(missing)} into its "env" yourself', err=True)


def _snippet(host: str, name: str, arguments: list[str], environ: Mapping[str, str]) -> Mapping[str, object]:
    server: dict[str, object] = {"command": arguments[0], "args": arguments[1:]}
    keys = [each.name for each in KEYS if environ.get(each.name)]
    plain = {variable: environ[variable] for variable in _PLAIN if environ.get(variable)}
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


def _command() -> list[str]:
    """Ours by its whole path: a host has another PATH than the shell."""
    script = Path(sys.executable).with_name("marchwarden")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "marchwarden"]


def _database(named: str) -> str:
    from marchwarden.errors import InvalidInput

    if "://" not in named:
        return str(Path(named).expanduser().absolute())
    if urlsplit(named).password:
        raise InvalidInput("leave the password out of the URL: it would stand in a file; set PGPASSWORD instead")
    return named


def _refuse_missing(folders: tuple[str, ...]) -> None:
    from marchwarden.errors import InvalidInput

    for folder in folders:
        if not Path(folder).expanduser().exists():
            raise InvalidInput(f"there is no folder or file {folder!r}")
