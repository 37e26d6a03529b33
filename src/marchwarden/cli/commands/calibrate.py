"""`marchwarden calibrate`: fit the confidence rubric to results that a suite can judge."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from marchwarden.evidence.calibration import LabelledFactors
    from marchwarden.evidence.confidence import Rubric
    from marchwarden.settings import Settings


@click.command()
@click.argument("results", nargs=-1, required=True, metavar="RESULTS...", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--suite",
    "suites",
    multiple=True,
    required=True,
    metavar="SUITE",
    help="Suite that judges the results: one for all files, or one per file in the same order.",
)
@click.option("--version", "version", default="", metavar="NAME", help="Name of the new rubric.")
@click.option("--keep", is_flag=True, help="Save it in the trace folder, so that later runs use it.")
@click.option("--trace-dir", type=click.Path(path_type=Path), help="Folder with the traces and the archive.")
@click.pass_obj
def calibrate(
    settings: "Settings",
    results: tuple[Path, ...],
    suites: tuple[str, ...],
    version: str,
    keep: bool,
    trace_dir: Path | None,
) -> None:
    """Fit the confidence rubric to results that a suite can judge, and print it.

    RESULTS are files written by `marchwarden batch` or `marchwarden eval -o`. Every file has the same weight.

    \b
    marchwarden eval marches -o marches.jsonl
    marchwarden calibrate marches.jsonl --suite marches --keep
    """
    from marchwarden.evidence.calibration import calibrate_rubric
    from marchwarden.evidence.confidence import Rubric
    from marchwarden.storage.store import Store

    store = Store.to_write(settings, trace_dir) if keep else Store.at(trace_dir or settings.trace_dir, settings.environ)
    folder = store.folder
    outcomes = [each for path, suite in _pair_with_suites(results, suites) for each in _judged_results(path, suite)]
    before = Rubric.load(folder)
    version = version or f"{Rubric.shipped().version}, fitted to {len(outcomes)} results"
    after = calibrate_rubric(before, outcomes, version)
    for rubric in (before, after):
        click.echo(f"{rubric.version}: calibration error {_error(rubric, outcomes):.3f}", err=True)
    click.echo(after.to_toml(), nl=False)
    if keep:
        _save(folder, after)


def _pair_with_suites(results: tuple[Path, ...], suites: tuple[str, ...]) -> "list[tuple[Path, str]]":
    from marchwarden.errors import InvalidInput

    if len(suites) not in {1, len(results)}:
        raise InvalidInput(f"{len(results)} result files need one --suite or one per file, not {len(suites)}")
    return list(zip(results, suites * (len(results) if len(suites) == 1 else 1), strict=True))


def _judged_results(path: Path, suite_name: str) -> "Iterator[LabelledFactors]":
    """Yield the results of one file. Questions that the suite does not mark as answerable or not are skipped."""
    from marchwarden.errors import InvalidInput
    from marchwarden.evaluation.judge import Judge
    from marchwarden.evaluation.report import check_question_ids
    from marchwarden.evaluation.run import ResultsFile
    from marchwarden.evaluation.suite import Suite
    from marchwarden.evidence.calibration import LabelledFactors

    suite, results = Suite.load(suite_name), ResultsFile(path).read()
    check_question_ids(suite, results)
    judge = Judge(suite)
    questions = [each for each in suite.questions if str(each.id) in results and each.answerable is not None]
    if not questions:
        raise InvalidInput(f"{path} has no results that the suite {suite.name} can judge")
    for question in questions:
        result = results[str(question.id)]
        is_right = bool(question.answerable) and judge.judge(question, result).found
        yield LabelledFactors(result.confidence_factors, is_right, 1000 / len(questions))


def _error(rubric: "Rubric", outcomes: "Sequence[LabelledFactors]") -> float:
    from marchwarden.evaluation.calibration import ConfidenceOutcome, calibration_error

    return calibration_error([ConfidenceOutcome(rubric.score(each.factors), each.right) for each in outcomes]) or 0.0


def _save(folder: Path, rubric: "Rubric") -> None:
    from marchwarden.core.paths import create_folder
    from marchwarden.errors import StorageError
    from marchwarden.evidence.confidence import RUBRIC_FILE

    try:
        create_folder(folder)
        (folder / RUBRIC_FILE).write_text(rubric.to_toml(), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{folder / RUBRIC_FILE} cannot be written: {error.strerror}") from error
    click.echo(f"saved to {folder / RUBRIC_FILE}; delete it to use the built-in rubric again", err=True)
