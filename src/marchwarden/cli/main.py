"""The `marchwarden` command: its groups, its errors, its exit codes. The only place that reads the environment.

Exit codes: 0 answered with evidence, 1 landed without evidence or a check failed, 2 bad input, 130 interrupted.
Nothing heavier than click is loaded here: a command imports what it needs when it runs.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from marchwarden.cli.arxiv import arxiv
from marchwarden.cli.asking import ask, batch, resume
from marchwarden.cli.checking import refresh
from marchwarden.cli.evaluating import evaluate
from marchwarden.cli.listing import researchers
from marchwarden.cli.looking import contract, costs, replay, traces, verify
from marchwarden.cli.reporting import report
from marchwarden.cli.running import runs
from marchwarden.cli.serving import serve
from marchwarden.cli.working import worker

INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="marchwarden", prog_name="marchwarden")
@click.pass_context
def marchwarden(context: click.Context) -> None:
    """Research whose every claim leads to a verbatim excerpt of something really read.

    \b
    marchwarden ask "What happens when the budget runs out?" --files docs/wiki
    marchwarden verify TRACE_ID

    Exit codes: 0 answered with evidence, 1 landed without evidence or a check failed, 2 bad input, 130 interrupted.
    """
    from marchwarden.settings import Settings

    context.obj = Settings.of(os.environ, _dotenv())


for command in (
    ask,
    batch,
    resume,
    replay,
    verify,
    report,
    refresh,
    traces,
    costs,
    researchers,
    arxiv,
    serve,
    contract,
    evaluate,
    worker,
    runs,
):
    marchwarden.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Whatever goes wrong, a person sees one line, and the stack only when asked for."""
    try:
        status = marchwarden.main(arguments, prog_name="marchwarden", standalone_mode=False)
    except click.UsageError as error:
        _fail(_usage(error), 2)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python would complain once more while closing it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if os.environ.get("MARCHWARDEN_DEBUG") == "1":
            raise
        _fail(*_told(error))
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _told(error: Exception) -> tuple[str, int]:
    from marchwarden.errors import InvalidInput, MarchwardenError

    if isinstance(error, MarchwardenError):
        return str(error), 2 if isinstance(error, InvalidInput) else 1
    return f"an error of ours: {type(error).__name__}: {error} (MARCHWARDEN_DEBUG=1 shows where)", 1


def _usage(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "marchwarden"
    return f"{error.format_message()} (see `{command} --help`)"


def _fail(line: str, status: int) -> None:
    click.echo(f"marchwarden: {' '.join(line.split())}", err=True)
    sys.exit(status)


def _dotenv() -> str:
    try:
        return Path(".env").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
