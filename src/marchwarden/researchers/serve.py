"""Serve a researcher of any kind over MCP: `marchwarden serve KIND`, `python -m marchwarden.researchers KIND`."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from marchwarden.core.inputs import Inputs

if TYPE_CHECKING:
    from marchwarden.mcp.serve import ServeOptions
    from marchwarden.researchers.spec import InputOption, ResearcherSpec
    from marchwarden.settings import Settings

Command = TypeVar("Command", bound=Callable[..., object])

_SERVE_OPTIONS: Final = (
    click.option("--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP there instead of stdio."),
    click.option("--token-env", metavar="VAR", help="Variable with the bearer token that HTTP clients must send."),
    click.option("--service", "service_file", metavar="FILE", help="TOML file with the HTTP clients and their limits."),
    click.option(
        "--allow-host", "allowed_hosts", multiple=True, metavar="HOST", help="Host header to accept; repeatable."
    ),
)


def main() -> None:
    """Serve the kind of researcher named on the command line. This is how `marchwarden ask` starts a child process."""
    from marchwarden.researchers.registry import researcher_spec, researcher_specs

    kind = sys.argv[1] if len(sys.argv) > 1 else ""
    spec = researcher_spec(kind)
    if spec is None:
        click.echo(f"usage: python -m marchwarden.researchers {{{','.join(researcher_specs())}}} [OPTIONS]", err=True)
        sys.exit(2)
    serve_command(spec).main(sys.argv[2:], prog_name=f"python -m marchwarden.researchers {kind}")


def serve_options(command: Command) -> Command:
    """Add the options that every server has: `address`, `token_env`, `service_file`, `allowed_hosts`."""
    for option in reversed(_SERVE_OPTIONS):
        command = option(command)
    return command


def serve_command(spec: "ResearcherSpec") -> click.Command:
    """Return the command that serves researchers of this kind.

    As part of the command line, it uses the settings of the context and checks the store. Alone, as a child process, it
    reads the environment.
    """

    def run(**parameters: Any) -> None:
        # Imported on demand: the MCP library takes a second to load.
        from marchwarden.errors import InvalidInput
        from marchwarden.mcp.serve import ServeOptions
        from marchwarden.settings import Settings

        inputs = Inputs.of({option.name: _values(parameters.pop(_parameter(option))) for option in spec.inputs})
        settings = click.get_current_context().obj
        try:
            if settings is None:
                settings = Settings.from_environ(os.environ)
            else:
                check_store(settings)
            serve_researcher(spec, inputs, ServeOptions(**parameters), settings)
        except InvalidInput as error:
            raise click.UsageError(str(error)) from error

    command = click.command(spec.kind, help=spec.serve_help or _default_help(spec))(serve_options(run))
    command.params[:0] = [_input_option(option) for option in spec.inputs]
    return command


def check_store(settings: "Settings") -> None:
    """Check that runs can be stored before serving.

    Raises `InvalidInput` if the user chose a place that is not writable. For the default place, prints a warning.
    """
    from marchwarden.storage.store import Store

    store = Store.to_write(settings)
    if reason := store.write_failure():
        warning = f"runs cannot be written to {store.place} ({reason}); they are answered, but cannot be verified later"
        click.echo(f"marchwarden: warning: {warning}", err=True)


def serve_researcher(spec: "ResearcherSpec", inputs: Inputs, options: "ServeOptions", settings: "Settings") -> None:
    """Build a researcher and serve it until the client disconnects or the process is stopped."""
    from marchwarden.logs.setup import set_up
    from marchwarden.mcp.serve import serve
    from marchwarden.minds.select import select_mind
    from marchwarden.researchers.spec import BuildContext
    from marchwarden.storage.store import Store

    set_up(settings.environ)
    store, mind = Store.at(settings.trace_dir, settings.environ), select_mind(None, settings.environ)
    researcher = spec.build(inputs, BuildContext(settings, store, mind))
    serve(researcher, researcher.store, name=spec.kind, purpose=spec.purpose, options=options, settings=settings)


def _input_option(option: "InputOption") -> click.Option:
    return click.Option(
        [option.flag, _parameter(option)],
        multiple=not option.is_single,
        required=option.is_required,
        envvar=option.variable or None,
        metavar=option.metavar,
        help=option.serve_help or option.help,
    )


def _parameter(option: "InputOption") -> str:
    """Return a parameter name that does not collide with the serve options."""
    return f"input_{option.name}"


def _values(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value or ()


def _default_help(spec: "ResearcherSpec") -> str:
    command = " ".join(["marchwarden", "serve", spec.kind, *filter(None, [spec.needed_options()])])
    return f"Serve the {spec.kind} researcher over MCP, on stdio or HTTP.\n\n{spec.purpose}\n\n\b\n{command}"
