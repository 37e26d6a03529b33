"""Export a report as JSON: the result, the excerpts in context, the checks and the timelines."""

from dataclasses import asdict

from marchwarden.audit.prices import Prices
from marchwarden.reports.bundle import Bundle, NumberedCitation, SourceText
from marchwarden.reports.excerpts import window
from marchwarden.reports.timeline import build_timelines
from marchwarden.text.sanitize import json_text


def render_json(bundle: Bundle, prices: Prices) -> str:
    request = bundle.run.opening.request
    report = {
        "request": request.model_dump(mode="json"),
        "researcher": bundle.run.opening.researcher,
        "result": bundle.result.model_dump(mode="json"),
        "verification": {
            "verified": bundle.verified,
            "made_on": bundle.made_on.isoformat(),
            "checks": [asdict(check) for check in bundle.checks],
        },
        "sources": [_source(source) for source in bundle.sources],
        "timelines": [asdict(line) for line in build_timelines(bundle, prices)],
    }
    return json_text(report, indent=1) + "\n"


def _source(source: SourceText) -> dict[str, object]:
    return {
        "locator": source.locator,
        "title": source.title,
        "author": source.author,
        "published": source.published.isoformat() if source.published else None,
        "fetched": source.fetched,
        "content_hash": source.content_hash,
        "text_hash": source.text_hash,
        "excerpts": [_excerpt(source, each) for each in source.citations],
    }


def _excerpt(source: SourceText, cited: NumberedCitation) -> dict[str, object]:
    found = window(cited.citation, source.text)
    return {"number": cited.number, "in_place": asdict(found) if found else None}
