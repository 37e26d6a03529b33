"""Options that several commands share, and their shell completion."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from marchwarden.core.inputs import Inputs
from marchwarden.settings import expand_home

if TYPE_CHECKING:
    import os

    from click.shell_completion import CompletionItem

    from marchwarden.researchers.spec import InputOption
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store

DEPTHS = ("shallow", "balanced", "deep")
MAX_COMPLETIONS = 50
Command = TypeVar("Command", bound=Callable[..., object])


def _combine(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Combine several options into one decorator."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _complete_trace_id(context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Complete a trace id, newest run first, with its question as help."""
    from click.shell_completion import CompletionItem

    from marchwarden.audit.catalog import RunCatalog
    from marchwarden.storage.store import Store
    from marchwarden.text.sanitize import one_line

    store = Store.at(context.params.get("trace_dir") or context.obj.trace_dir, context.obj.environ)
    runs = RunCatalog(store).runs()
    matches = [run for run in runs if run.trace_id.startswith(incomplete)]
    return [CompletionItem(run.trace_id, help=one_line(run.question, 60)) for run in matches[:MAX_COMPLETIONS]]


class InputOptions(click.Option):
    """Placeholder for the input options of all researchers: `--files`, `--db`, and those of installed packages."""


class InputCommand(click.Command):
    """A command with an option for each researcher input. Its function gets them as one `inputs: Inputs`."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        taken = {flag for each in own for flag in each.opts}
        params: list[click.Parameter] = []
        for each in own:
            params += _input_options(taken) if isinstance(each, InputOptions) else [each]
        return params

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        values = {option.name: ctx.params.pop(f"input_{option.name}", None) for option in _inputs()}
        ctx.params["inputs"] = Inputs.of({name: _texts(value) for name, value in values.items()})
        return rest


def _input_options(taken: set[str]) -> list[click.Option]:
    """Return the input options of all researchers, except flags that the command itself uses."""
    return [
        click.Option(
            [option.flag, f"input_{option.name}"],
            multiple=option.is_repeatable,
            metavar=option.metavar,
            type=click.Path() if option.is_path else str,
            help=option.help,
        )
        for option in _inputs()
        if option.flag not in taken
    ]


def _inputs() -> "list[InputOption]":
    from marchwarden.researchers.registry import researcher_specs

    return [option for spec in researcher_specs().values() for option in spec.inputs]


def _texts(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value or ()


class _TraceFolder(click.Path):
    """A folder or bucket. `~` stands for the home folder, as in the setting, because shells keep it after a `=`."""

    def convert(
        self, value: "str | os.PathLike[str]", param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        if not str(value).strip():
            self.fail("it is empty", param, ctx)
        return expand_home(str(value))


trace_id = click.argument("trace_id", shell_complete=_complete_trace_id)
trace_dir = click.option("--trace-dir", type=_TraceFolder(), help="Folder with the traces and the archive.")
temporal = click.option("--temporal", metavar="HOST:PORT", help="Run on the workers of this Temporal server.")
verbose = click.option("--verbose", "-v", is_flag=True, help="Also print tokens, iterations and time.")
inputs = click.option("--inputs", cls=InputOptions, hidden=True, expose_value=False)
researchers = click.option(
    "--researcher", "researchers", multiple=True, metavar="NAME", help="Ask only this researcher; repeatable."
)
model = click.option(
    "--model", "--mind", "model", metavar="MODEL", help="Model to use: `extractive` or `provider:model`."
)
researcher_options = _combine(inputs, researchers, model)
limit_options = _combine(
    click.option(
        "--depth", type=click.Choice(DEPTHS), default="balanced", show_default=True, help="How thoroughly to search."
    ),
    click.option("--budget", type=click.IntRange(min=1000), metavar="TOKENS", help="Maximum number of tokens."),
    click.option("--max-iterations", type=click.IntRange(1, 20), metavar="N", help="Maximum number of rounds."),
    click.option("--max-sources", type=click.IntRange(min=1), metavar="N", help="Maximum number of documents."),
    click.option("--source-filter", metavar="DOMAINS", help="Only these domains or suffixes: .gov,.edu"),
)


def as_json(help_text: str) -> Callable[[Command], Command]:
    return click.option("--json", "as_json", is_flag=True, help=help_text)


def open_store(settings: "Settings", folder: Path | None) -> "Store":
    """Open the store in the folder given with `--trace-dir`, or in the configured one."""
    from marchwarden.storage.store import Store

    return Store.at(folder or settings.trace_dir, settings.environ)


def writable_folder(settings: "Settings", folder: Path | None) -> Path:
    """Return the folder or bucket to write runs to. Raises `InvalidInput` if the user chose one that is not writable.

    Commands call it before they do anything else.
    """
    from marchwarden.storage.store import Store

    Store.to_write(settings, folder)
    return folder or settings.trace_dir
