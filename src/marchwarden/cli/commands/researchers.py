"""`marchwarden researchers`: list researchers and their status."""

from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.orchestrator.external import Health
    from marchwarden.researchers.spec import ResearcherSpec
    from marchwarden.settings import Settings


@click.command()
@options.as_json("Print the list as JSON.")
@click.pass_obj
def researchers(settings: "Settings", as_json: bool) -> int:
    """List researchers and their status: installed kinds, and those registered in researchers.toml.

    Exit code 1 if one does not answer.

    \b
    marchwarden researchers
    marchwarden researchers --json
    """
    import anyio

    from marchwarden.orchestrator.external import ExternalRegistry, check_health
    from marchwarden.researchers.registry import researcher_specs

    registry = ExternalRegistry.load(settings.researchers, settings.environ)
    installed = [_health(spec, settings) for spec in researcher_specs().values()]
    statuses = [*installed, *anyio.run(check_health, registry)]
    if as_json:
        click.echo(json_text([vars(each) for each in statuses]))
    else:
        from marchwarden.cli import formatter
        from marchwarden.cli.pager import print_output

        print_output(formatter.researchers(statuses))
    return 0 if all(each.well for each in statuses) else 1


def _health(spec: "ResearcherSpec", settings: "Settings") -> "Health":
    from marchwarden.contract import CONTRACT_VERSION
    from marchwarden.orchestrator.external import Health

    required = spec.needed_options()
    state = spec.status(settings.environ) or (f"needs {required}" if required else "needs no option")
    return Health(
        spec.kind, CONTRACT_VERSION, f"{state} (from {spec.package})" if spec.package else state, spec.purpose
    )
