"""`marchwarden ui`: serve the browser interface on this machine."""

from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.core.inputs import Inputs
from marchwarden.settings import expand_home

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from marchwarden.protocols import Researcher
    from marchwarden.settings import Settings
    from marchwarden.ui.ask_form import AskForm
    from marchwarden.ui.dependencies import UiDependencies

NO_KEY = "No API key: using the built-in extractive mode. Set ANTHROPIC_API_KEY, or enter a model above."
MAX_CACHED = 8
"""Researchers that stay open, with their indexes, for later questions with the same inputs."""


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    show_default="any free one",
    metavar="N",
    help="Port to listen on.",
)
@click.option("--no-open", is_flag=True, help="Print the address without opening a browser.")
@options.trace_dir
@click.pass_obj
def ui(settings: "Settings", port: int, no_open: bool, trace_dir: Path | None) -> None:
    """Open the browser interface: ask questions, follow runs, read, compare and verify. For this machine only.

    The address contains a secret and works until the command ends (Ctrl-C). Interrupted runs can be resumed.

    \b
    marchwarden ui
    marchwarden ui --port 8731 --no-open
    """
    import anyio

    from marchwarden.ui.serve import serve_page

    def announce(address: str) -> None:
        click.echo(address)
        if not no_open:
            import webbrowser

            webbrowser.open(address)

    with _usable_folder(settings, trace_dir) as folder:
        unfinished = anyio.run(partial(serve_page, ui_dependencies(settings, folder), port, announce))
    if unfinished:
        click.echo(
            f"{unfinished} unfinished: `marchwarden traces` lists them, `marchwarden resume` continues", err=True
        )


@contextmanager
def _usable_folder(settings: "Settings", trace_dir: Path | None) -> "Iterator[Path]":
    """Yield the folder of the runs. The pages show stored runs, so an unwritable default is replaced temporarily."""
    from tempfile import TemporaryDirectory

    from marchwarden.errors import StorageError
    from marchwarden.storage.store import Store

    folder = options.writable_folder(settings, trace_dir)
    reason = Store.at(folder, settings.environ).write_failure()
    if not reason:
        yield folder
        return
    warning = f"runs cannot be written to {folder} ({reason}); new runs are kept until this command ends"
    click.echo(f"marchwarden: warning: {warning}", err=True)
    try:
        temporary = TemporaryDirectory(prefix="marchwarden-", ignore_cleanup_errors=True)
    except OSError as error:
        raise StorageError(f"no temporary folder can be created: {error.strerror}; free some space") from error
    with temporary as name:
        yield Path(name)


def ui_dependencies(settings: "Settings", trace_dir: Path) -> "UiDependencies":
    """Return the functions and values that the browser interface needs from the command line."""
    from marchwarden.audit.prices import Prices
    from marchwarden.cli.rebuild import rebuild_from_trace, rebuild_run_offline
    from marchwarden.cli.selection import Selection
    from marchwarden.minds.select import mind_notice
    from marchwarden.orchestrator.external import ExternalRegistry
    from marchwarden.researchers.registry import researcher_specs
    from marchwarden.storage.store import Store
    from marchwarden.ui.ask_form import InputField
    from marchwarden.ui.dependencies import UiDependencies

    specs = researcher_specs()
    input_options = {option.name: option for spec in specs.values() for option in spec.inputs}

    @lru_cache(MAX_CACHED)
    def researcher_for(selection: Selection) -> "Researcher":
        return selection.build(settings, trace_dir, in_process=True)

    def build(form: "AskForm") -> "Researcher":
        inputs = {
            name: [_expand_home(value) if input_options[name].is_path else value for value in form.inputs[name]]
            for name in form.inputs
        }
        return researcher_for(Selection(form.researchers, Inputs.of(inputs), form.mind))

    def read_inputs(kind: str, description: "Mapping[str, object]") -> Inputs:
        return specs[kind].trace_inputs(description) if kind in specs else Inputs()

    external = ExternalRegistry.load(settings.researchers, settings.environ).entries
    return UiDependencies(
        store=Store.at(trace_dir, settings.environ),
        prices=Prices.load(settings.prices),
        build=build,
        build_from_trace=lambda header: rebuild_from_trace(header, settings, trace_dir),
        rebuild_offline=rebuild_run_offline,
        read_inputs=read_inputs,
        fields=tuple(
            InputField(spec.kind, option.name, option.label, option.example, option.hint)
            for spec in specs.values()
            for option in spec.inputs
        ),
        names=(*(kind for kind, spec in specs.items() if not spec.needed_options()), *external),
        notice=NO_KEY if mind_notice(settings.environ) else "",
    )


def _expand_home(path_or_url: str) -> str:
    return str(expand_home(path_or_url)) if path_or_url.startswith("~") else path_or_url
