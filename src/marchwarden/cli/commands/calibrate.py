"""`marchwarden calibrate`: the rubric of confidence fitted anew to results whose truth is known."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from marchwarden.evidence.calibrate import Weighed
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
    help="What the results are held against: one for all of them, or one for each in their order.",
)
@click.option("--version", "version", default="", metavar="NAME", help="What to call the new rubric.")
@click.option("--keep", is_flag=True, help="Keep it beside the traces, where every later run scores by it.")
@click.option("--trace-dir", type=click.Path(path_type=Path), help="Where traces are kept.")
@click.pass_obj
def calibrate(
    settings: "Settings",
    results: tuple[Path, ...],
    suites: tuple[str, ...],
    version: str,
    keep: bool,
    trace_dir: Path | None,
) -> None:
    """Fit the rubric of confidence to results whose truth a suite knows, and print it.

    RESULTS are files of `marchwarden batch` or `marchwarden eval -o`. Every file counts the same, however long.

    \b
    marchwarden eval marches -o marches.jsonl
    marchwarden calibrate marches.jsonl --suite marches --keep
    """
    from marchwarden.evidence.calibrate import calibrated
    from marchwarden.evidence.confidence import Rubric
    from marchwarden.storage.store import Store

    folder = Store.at(trace_dir or settings.trace_dir, settings.environ).folder
    weighed = [each for path, suite in _paired(results, suites) for each in _weighed(path, suite)]
    before = Rubric.kept_in(folder)
    after = calibrated(before, weighed, version or f"{Rubric.shipped().version}, fitted to {len(weighed)} results")
    for rubric in (before, after):
        click.echo(f"{rubric.version}: calibration error {_error(rubric, weighed):.3f}", err=True)
    click.echo(after.toml(), nl=False)
    if keep:
        _keep(folder, after)


def _paired(results: tuple[Path, ...], suites: tuple[str, ...]) -> "list[tuple[Path, str]]":
    from marchwarden.errors import InvalidInput

    if len(suites) not in {1, len(results)}:
        raise InvalidInput(f"{len(results)} files of results need one --suite, or as many, not {len(suites)}")
    return list(zip(results, suites * (len(results) if len(suites) == 1 else 1), strict=True))


def _weighed(path: Path, suite_name: str) -> "Iterator[Weighed]":
    """The results of one file. A question of which the suite does not say whether it has an answer tells nothing."""
    from marchwarden.errors import InvalidInput
    from marchwarden.evaluation.judge import Judge
    from marchwarden.evaluation.report import refuse_strangers
    from marchwarden.evaluation.run import Answers
    from marchwarden.evaluation.suite import Suite
    from marchwarden.evidence.calibrate import Weighed

    suite, found = Suite.load(suite_name), Answers(path).read()
    refuse_strangers(suite, found)
    judge = Judge(suite)
    told = [each for each in suite.questions if str(each.id) in found and each.answerable is not None]
    if not told:
        raise InvalidInput(f"{path} holds no results that the suite {suite.name} can tell right from wrong")
    for question in told:
        result = found[str(question.id)]
        right = bool(question.answerable) and judge.judged(question, result).found
        yield Weighed(result.confidence_factors, right, 1000 / len(told))


def _error(rubric: "Rubric", weighed: "Sequence[Weighed]") -> float:
    from marchwarden.evaluation.calibration import Outcome, calibration_error

    return calibration_error([Outcome(rubric.score(each.factors), each.right) for each in weighed]) or 0.0


def _keep(folder: Path, rubric: "Rubric") -> None:
    from marchwarden.errors import StorageError
    from marchwarden.evidence.confidence import KEPT

    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / KEPT).write_text(rubric.toml(), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{folder / KEPT} cannot be written: {error.strerror}") from error
    click.echo(f"kept in {folder / KEPT}; remove it to go back to what is shipped", err=True)
