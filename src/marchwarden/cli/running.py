"""The commands that look after the runs of the fleet: list, watch, cancel, retry."""

import click


@click.group()
def runs() -> None:
    """Look after the runs of the fleet."""
