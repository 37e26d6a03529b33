"""Options: what several commands are given in the same words, and how a shell completes it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store

DEPTHS = ("shallow", "balanced", "deep")
MOST_COMPLETED = 50
Command = TypeVar("Command", bound=Callable[..., object])


def _shared(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _latest_runs(context: click.Context, _parameter: click.Parameter, begun: str) -> "list[CompletionItem]":
    """The ids of the latest runs, each with what was asked."""
    from click.shell_completion import CompletionItem

    from marchwarden.audit.catalog import RunCatalog
    from marchwarden.storage.store import Store
    from marchwarden.text.sanitize import one_line

    store = Store.at(context.params.get("trace_dir") or context.obj.trace_dir, context.obj.environ)
    runs = RunCatalog(store).runs()
    found = [run for run in runs if run.trace_id.startswith(begun)]
    return [CompletionItem(run.trace_id, help=one_line(run.question, 60)) for run in found[:MOST_COMPLETED]]


trace_id = click.argument("trace_id", shell_complete=_latest_runs)
trace_dir = click.option("--trace-dir", type=click.Path(path_type=Path), help="Where traces and the archive are kept.")
temporal = click.option(
    "--temporal", metavar="HOST:PORT", help="Have the workers of the fleet do it, through the Temporal server there."
)
verbose = click.option("--verbose", "-v", is_flag=True, help="Also tokens, iterations and time.")
readings = _shared(
    click.option(
        "--files",
        "folders",
        multiple=True,
        metavar="PATH",
        type=click.Path(),
        help="A folder or file to answer from; repeatable.",
    ),
    click.option(
        "--db",
        "databases",
        multiple=True,
        metavar="URL_OR_PATH",
        type=click.Path(),
        help="A database to answer from; repeatable.",
    ),
)
researchers = click.option(
    "--researcher", "researchers", multiple=True, metavar="NAME", help="Ask only this one; repeatable."
)
where = _shared(
    readings,
    researchers,
    click.option("--mind", metavar="MIND", help="Who decides: extractive, or provider:model."),
)
limits = _shared(
    click.option(
        "--depth", type=click.Choice(DEPTHS), default="balanced", show_default=True, help="How long to go on."
    ),
    click.option("--budget", type=click.IntRange(min=1000), metavar="TOKENS", help="At most so many tokens."),
    click.option("--max-iterations", type=click.IntRange(1, 20), metavar="N", help="At most so many rounds."),
    click.option("--max-sources", type=click.IntRange(min=1), metavar="N", help="At most so many documents fetched."),
    click.option("--source-filter", metavar="DOMAINS", help="Only these domains or suffixes: .gov,.edu"),
)


def as_json(what: str) -> Callable[[Command], Command]:
    return click.option("--json", "as_json", is_flag=True, help=what)


def open_store(settings: "Settings", folder: Path | None) -> "Store":
    """Open the store in the folder given with `--trace-dir`, or in the configured one."""
    from marchwarden.storage.store import Store

    return Store.at(folder or settings.trace_dir, settings.environ)
