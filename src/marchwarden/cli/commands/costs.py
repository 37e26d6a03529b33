"""The `costs` command: add up what all runs have spent."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.settings import Settings


@click.command()
@click.option(
    "--by", type=click.Choice(["day", "model", "researcher"]), default="day", show_default=True, help="Group by."
)
@options.as_json("Print the sums as JSON.")
@options.trace_dir
@click.pass_obj
def costs(settings: "Settings", by: str, as_json: bool, trace_dir: Path | None) -> None:
    """Add up the costs of all runs, from their traces and the price table.

    \b
    marchwarden costs --by model
    """
    from rich.console import Console

    from marchwarden.audit.costs import all_expenses, sum_by, total
    from marchwarden.audit.prices import Prices
    from marchwarden.cli import formatter

    spent = all_expenses(options.open_store(settings, trace_dir), Prices.load(settings.prices))
    sums, whole = sum_by(spent, by), total(spent)
    if as_json:
        click.echo(json_text([asdict(each) for each in (*sums, whole)]))
    else:
        Console(highlight=False).print(formatter.spending(sums, whole), soft_wrap=True)
