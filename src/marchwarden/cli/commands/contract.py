"""`marchwarden contract`: print the JSON schemas of the research contract."""

import json

import click


@click.command()
@click.argument("which", type=click.Choice(["result", "constraints"]))
def contract(which: str) -> None:
    """Print the JSON schema of a ResearchResult or of the constraints.

    \b
    marchwarden contract result
    """
    from marchwarden.contract import ResearchConstraints, ResearchResult

    model = ResearchResult if which == "result" else ResearchConstraints
    click.echo(json.dumps(model.model_json_schema(), indent=1))
