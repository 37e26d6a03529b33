"""`marchwarden report`: export a finished run as a file. Works offline."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options

if TYPE_CHECKING:
    from marchwarden.audit.prices import Prices
    from marchwarden.reports.bundle import Bundle
    from marchwarden.settings import Settings

FORMATS = ("html", "md", "json", "bibtex", "csl-json")
_FORMAT_BY_SUFFIX = {".html": "html", ".htm": "html", ".md": "md", ".bib": "bibtex", ".json": "json"}


@click.command()
@options.trace_id
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Output file. Default: stdout.")
@click.option(
    "--format", "output_format", type=click.Choice(FORMATS), help="Default: from the output file name, else html."
)
@options.trace_dir
@click.pass_obj
def report(
    settings: "Settings", trace_id: str, output: Path | None, output_format: str | None, trace_dir: Path | None
) -> int:
    """Export a run as one file: the answer, with every quotation highlighted in its source.

    The HTML file works offline and shows whether every citation was verified.
    Exit code 0 if all citations are verified, else 1. The report is written in both cases.

    \b
    marchwarden report TRACE_ID -o report.html
    marchwarden report TRACE_ID --format bibtex
    """
    from marchwarden.audit.prices import Prices
    from marchwarden.reports.load import load_bundle
    from marchwarden.storage.trace import utc_now

    bundle = load_bundle(options.open_store(settings, trace_dir), trace_id, utc_now().date())
    chosen = output_format or _FORMAT_BY_SUFFIX.get(output.suffix.lower() if output else "", "html")
    text = _render(bundle, Prices.load(settings.prices), chosen)
    if output is None:
        click.echo(text.encode(errors="replace"), nl=False)
    else:
        _write(output, text)
        click.echo(f"{output}: {_verdict(bundle)}", err=True)
    return 0 if bundle.verified else 1


def _render(bundle: "Bundle", prices: "Prices", output_format: str) -> str:
    from marchwarden.reports.bibliography import bibtex, csl_json
    from marchwarden.reports.json_export import render_json
    from marchwarden.reports.markdown import render_markdown
    from marchwarden.reports.page import render_page

    match output_format:
        case "md":
            return render_markdown(bundle)
        case "json":
            return render_json(bundle, prices)
        case "bibtex":
            return bibtex(bundle)
        case "csl-json":
            return csl_json(bundle)
    return render_page(bundle, prices)


def _write(output: Path, text: str) -> None:
    from marchwarden.errors import InvalidInput

    try:
        output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidInput(f"{output} cannot be written: {error.strerror}") from error


def _verdict(bundle: "Bundle") -> str:
    failed = sum(not check.proved for check in bundle.checks)
    return (
        f"{failed} of {len(bundle.checks)} checks failed" if failed else f"verified, {len(bundle.checks)} checks passed"
    )
