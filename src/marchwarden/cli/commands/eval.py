"""`marchwarden eval`: answer the questions of a suite and compare the results with the known answers."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from marchwarden.cli.selection import Selection
    from marchwarden.contract import ResearchResult
    from marchwarden.core.inputs import Inputs
    from marchwarden.evaluation.report import Report
    from marchwarden.evaluation.run import ResultsFile
    from marchwarden.evaluation.suite import Suite, SuiteQuestion
    from marchwarden.protocols import Researcher
    from marchwarden.settings import Settings


@click.command("eval", cls=options.InputCommand)
@click.argument("suite_name", metavar="SUITE")
@options.inputs
@click.option(
    "--researcher", "researchers", multiple=True, metavar="NAME", help="Researcher to measure; default: files."
)
@options.model
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Ask only this many questions.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample.")
@click.option(
    "--concurrency", type=click.IntRange(1, 64), default=4, show_default=True, help="Questions at the same time."
)
@click.option(
    "--out",
    "-o",
    "results",
    type=click.Path(path_type=Path),
    help="Results file, one line per answer; answered questions are skipped.",
)
@click.option(
    "--compare", "other", type=click.Path(path_type=Path, exists=True), help="Compare with this results file."
)
@click.option("--html", "page_path", type=click.Path(path_type=Path), help="Write the report to this HTML file.")
@options.as_json("Print the report as JSON.")
@click.option("--gate", "is_gated", is_flag=True, help="Exit 1 if a figure is below its floor.")
@options.trace_dir
@click.pass_obj
def evaluate(
    settings: "Settings",
    suite_name: str,
    inputs: "Inputs",
    researchers: tuple[str, ...],
    model: str | None,
    sample: int | None,
    seed: int,
    concurrency: int,
    results: Path | None,
    other: Path | None,
    page_path: Path | None,
    as_json: bool,
    is_gated: bool,
    trace_dir: Path | None,
) -> int:
    """Measure a researcher with a suite of questions whose answers are known.

    SUITE is a folder with docs.jsonl, questions.jsonl and an optional folder of files, or the name of a built-in suite:
    marches. The files researcher reads the documents of the suite.

    \b
    marchwarden eval marches
    marchwarden eval path/to/suite --sample 200 --html report.html
    marchwarden eval path/to/suite -o new.jsonl --compare old.jsonl
    """
    from marchwarden.evaluation.report import Report
    from marchwarden.evaluation.run import ResultsFile
    from marchwarden.evaluation.suite import Suite
    from marchwarden.storage.store import Store

    suite = Suite.load(suite_name)
    if is_gated:
        _check_gate(suite.name, sample)
    questions, folder = suite.sample(sample, seed), options.writable_folder(settings, trace_dir)
    selection = _select(suite, researchers, inputs, model, settings)
    researcher = selection.build(settings, folder, in_process=True)
    with _results_file(results) as file:
        answers = _answer(researcher, suite, questions, file, concurrency)
    archive = Store.at(folder, settings.environ).archive
    report = Report.from_results(suite, questions, answers, archive)
    if other:
        report = report.compared_with(Report.from_results(suite, questions, ResultsFile(other).read(), archive))
    _print_report(report, page_path, as_json=as_json)
    return _apply_gate(report) if is_gated else 0


def _select(
    suite: "Suite", names: tuple[str, ...], inputs: "Inputs", model: str | None, settings: "Settings"
) -> "Selection":
    """Select the named researchers, else those with inputs, else files. By default, files reads the suite."""
    from marchwarden.cli.selection import Selection
    from marchwarden.researchers.registry import researcher_specs

    kinds_with_inputs = tuple(kind for kind, spec in researcher_specs().items() if spec.own_inputs(inputs))
    names = names or kinds_with_inputs or ("files",)
    if "files" in names and not inputs["folders"]:
        inputs = inputs.having("folders", [str(_write_documents(suite, settings))])
    return Selection(names, inputs, model)


def _write_documents(suite: "Suite", settings: "Settings") -> Path:
    """Write the documents of the suite next to the index that is built from them, or to a temporary folder."""
    from tempfile import TemporaryDirectory

    from marchwarden.errors import StorageError

    try:
        return suite.write_documents(settings.index_dir.with_name("suites"))
    except StorageError:
        temporary = TemporaryDirectory(prefix="marchwarden-", ignore_cleanup_errors=True)
        return suite.write_documents(Path(click.get_current_context().with_resource(temporary)))


def _answer(
    researcher: "Researcher",
    suite: "Suite",
    questions: "Sequence[SuiteQuestion]",
    file: "ResultsFile",
    concurrency: int,
) -> "Mapping[str, ResearchResult]":
    """Answer the questions that have no result in the file yet, and return all results."""
    import anyio

    from marchwarden.cli.batch_file import progress_bar
    from marchwarden.cli.progress import WarningPrinter
    from marchwarden.core.request import parse_request
    from marchwarden.evaluation.report import check_question_ids
    from marchwarden.evaluation.run import Task, answer_all

    finished = file.read()
    check_question_ids(suite, finished)
    unanswered = [each for each in questions if str(each.id) not in finished]
    tasks = [Task(each.id, parse_request({"question": each.text})) for each in unanswered]
    if tasks:
        with progress_bar() as bar:
            row = bar.add_task("questions", total=len(questions), completed=len(questions) - len(tasks))
            warn = WarningPrinter(bar.console).report
            anyio.run(answer_all, researcher, tasks, file, concurrency, lambda: bar.advance(row), None, warn)
    return file.read()


@contextmanager
def _results_file(path: Path | None) -> "Iterator[ResultsFile]":
    """Open the given results file, or a temporary one: without `--out`, every question is asked again."""
    from tempfile import TemporaryDirectory

    from marchwarden.evaluation.run import ResultsFile

    if path is not None:
        yield ResultsFile(path)
        return
    with TemporaryDirectory() as folder:
        yield ResultsFile(Path(folder) / "results.jsonl")


def _print_report(report: "Report", page_path: Path | None, *, as_json: bool) -> None:
    if as_json:
        click.echo(json_text(report.to_json()))
    else:
        click.echo("\n".join(report.lines()))
    # Last, so that the report is printed even if the page cannot be written.
    if page_path:
        _write(page_path, report)


def _write(path: Path, report: "Report") -> None:
    from marchwarden.errors import InvalidInput
    from marchwarden.evaluation.html_report import render_page

    try:
        path.write_text(render_page(report), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error


def _apply_gate(report: "Report") -> int:
    from marchwarden.evaluation.gate import load_gate

    breaches = [*load_gate(report.suite).breaches(report)]
    for breach in breaches:
        click.echo(f"gate: {breach}", err=True)
    click.echo("gate: failed" if breaches else "gate: passed", err=True)
    return 1 if breaches else 0


def _check_gate(suite: str, sample: int | None) -> None:
    """Raise `InvalidInput` if the suite has no gate or is not asked as a whole."""
    from marchwarden.errors import InvalidInput
    from marchwarden.evaluation.gate import load_gate

    load_gate(suite)
    if sample is not None:
        raise InvalidInput("--gate is for the whole suite: leave out --sample")
