"""The `marchwarden` command: subcommands, error messages and exit codes. Reads the environment.

Exit codes: 0 answered with evidence, 1 no supporting evidence or a failed check, 2 bad input, 130 interrupted.
Imports nothing heavier than click: each command imports what it needs when it runs.
"""

import atexit
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import click

from marchwarden.cli.commands.arxiv import arxiv
from marchwarden.cli.commands.ask import ask
from marchwarden.cli.commands.batch import batch
from marchwarden.cli.commands.calibrate import calibrate
from marchwarden.cli.commands.completion import completion
from marchwarden.cli.commands.contract import contract
from marchwarden.cli.commands.costs import costs
from marchwarden.cli.commands.doctor import doctor
from marchwarden.cli.commands.eval import evaluate
from marchwarden.cli.commands.gc import gc
from marchwarden.cli.commands.index import index
from marchwarden.cli.commands.init import START, init
from marchwarden.cli.commands.mcp_config import mcp_config
from marchwarden.cli.commands.refresh import refresh
from marchwarden.cli.commands.replay import replay
from marchwarden.cli.commands.report import report
from marchwarden.cli.commands.researchers import researchers
from marchwarden.cli.commands.resume import resume
from marchwarden.cli.commands.runs import runs
from marchwarden.cli.commands.serve import serve
from marchwarden.cli.commands.traces import traces
from marchwarden.cli.commands.ui import ui
from marchwarden.cli.commands.verify import verify
from marchwarden.cli.commands.worker import worker
from marchwarden.cli.help import SectionedGroup
from marchwarden.cli.streams import OutputFailed, discard_output, set_up_streams

INTERRUPTED = 130
MAX_MESSAGE_LENGTH = 2_000


@click.group(cls=SectionedGroup, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="marchwarden", prog_name="marchwarden")
@click.pass_context
def marchwarden(context: click.Context) -> None:
    """Answer questions from sources, with a verbatim quotation for every claim.

    \b
    marchwarden ask "What happens when the budget runs out?" --files docs/wiki
    marchwarden verify TRACE_ID

    Exit codes: 0 answered with evidence, 1 no supporting evidence or a failed check, 2 bad input, 130 interrupted.
    """
    from marchwarden.logs.setup import set_up

    set_up(context.obj.environ)
    if context.invoked_subcommand is None:
        click.echo(START)


for command in (
    ask,
    batch,
    resume,
    replay,
    verify,
    report,
    ui,
    refresh,
    traces,
    costs,
    researchers,
    arxiv,
    index,
    serve,
    contract,
    evaluate,
    calibrate,
    init,
    doctor,
    gc,
    mcp_config,
    completion,
    worker,
    runs,
):
    marchwarden.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Errors are one line; `MARCHWARDEN_DEBUG=1` shows the stack trace."""
    from marchwarden.settings import Settings

    try:
        # Passed here because shell completion never runs the group callback.
        settings = Settings.from_environ(os.environ, _read_dotenv())
        status = marchwarden.main(arguments, prog_name="marchwarden", standalone_mode=False, obj=settings)
        sys.stdout.flush()
    except click.UsageError as error:
        _fail(_usage_error(error), 2)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", INTERRUPTED)
    except OutputFailed as error:
        discard_output()
        if error.errno == errno.EPIPE:
            # Usually intended: `marchwarden traces | head`.
            sys.exit(1)
        _fail(f"the output cannot be written: {error.strerror}", 1)
    except Exception as error:
        if os.environ.get("MARCHWARDEN_DEBUG") == "1":
            raise
        _fail(*_describe(error))
    else:
        sys.exit(status if isinstance(status, int) else 0)


def program() -> None:
    """Run `main` and exit the process (entry point of the console script)."""
    set_up_streams()
    if not sys.warnoptions:
        # It concerns the authors of a library, and appears when the library is imported for the first time.
        warnings.filterwarnings("ignore", category=SyntaxWarning)
    try:
        main()
    except SystemExit as exit_:
        if "temporalio" in sys.modules:
            _exit_immediately(exit_.code if isinstance(exit_.code, int) else 1)
        raise


def _exit_immediately(status: int) -> None:
    """Exit without finalizing Python: Temporal's threads can abort the process during finalization."""
    atexit._run_exitfuncs()  # noqa: SLF001 - `multiprocessing` does the same before `os._exit`
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _describe(error: Exception) -> tuple[str, int]:
    from marchwarden.errors import InvalidInput, MarchwardenError

    if isinstance(error, MarchwardenError):
        return str(error), 2 if isinstance(error, InvalidInput) else 1
    if isinstance(error, FileNotFoundError) and not _has_current_folder():
        return "the current folder was deleted: change to another folder", 2
    return f"internal error: {type(error).__name__}: {error} (set MARCHWARDEN_DEBUG=1 to see the stack trace)", 1


def _has_current_folder() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _usage_error(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "marchwarden"
    return f"{error.format_message()} (see `{command} --help`)"


def _fail(message: str, status: int) -> None:
    from marchwarden.text.sanitize import one_line

    click.echo(f"marchwarden: {one_line(message, MAX_MESSAGE_LENGTH)}", err=True)
    sys.exit(status)


def _read_dotenv() -> str:
    """Return the text of `.env` in the current folder. Prints a warning if there is one that cannot be used."""
    try:
        # Bytes that are not UTF-8 stay as they are, as in the environment.
        text = Path(".env").read_text(encoding="utf-8-sig", errors="surrogateescape")
    except (FileNotFoundError, IsADirectoryError):
        return ""
    except OSError as error:
        return _ignore_dotenv(f"cannot be read ({error.strerror})")
    return _ignore_dotenv("is not a UTF-8 text file") if "\0" in text else text


def _ignore_dotenv(reason: str) -> str:
    click.echo(f"marchwarden: warning: .env {reason}: its settings are not used", err=True)
    return ""
