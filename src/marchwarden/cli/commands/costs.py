"""`marchwarden costs`: add up the costs of all runs."""

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
    "--by",
    type=click.Choice(["day", "model", "researcher"]),
    default="day",
    show_default=True,
    help="How to group the costs.",
)
@options.as_json("Print the sums as JSON.")
@options.trace_dir
@click.pass_obj
def costs(settings: "Settings", by: str, as_json: bool, trace_dir: Path | None) -> None:
    """Add up the costs of all runs, from their traces and the price table.

    \b
    marchwarden costs --by model
    """
    from marchwarden.audit.costs import all_expenses, sum_by, total
    from marchwarden.audit.prices import Prices
    from marchwarden.cli import formatter
    from marchwarden.cli.pager import print_output

    items = all_expenses(options.open_store(settings, trace_dir), Prices.load(settings.prices))
    sums, grand_total = sum_by(items, by), total(items)
    if as_json:
        click.echo(json_text([asdict(each) for each in (*sums, grand_total)]))
    else:
        print_output(formatter.costs(sums, grand_total), wraps=False)
