"""`SPEC` of the arXiv researcher. Imports the researcher only when it is built."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from marchwarden.core.inputs import Inputs
from marchwarden.researchers.spec import BuildContext, ExternalService, ResearcherSpec, SourceDescription

if TYPE_CHECKING:
    from marchwarden.loop.investigator import Investigator
    from marchwarden.protocols import Source
    from marchwarden.settings import Settings

ALLOWED_HOSTS: Final = "MARCHWARDEN_ALLOW_HOSTS"
_SCOPE: Final = (
    "paper preprint arxiv study studies research researcher scientist experiment measurement theorem proof dataset",
    "abstract author published physics mathematics astronomy quantum statistics algorithm neural learning model theory",
)
"""Questions without any of these words go to arXiv only if no other researcher has an answer."""


def _describe(_inputs: Inputs, settings: "Settings") -> SourceDescription:
    from marchwarden.fetching import AllowedHosts
    from marchwarden.researchers.arxiv.models import Endpoints

    AllowedHosts.parse(settings.environ.get(ALLOWED_HOSTS, ""))
    endpoints = Endpoints.from_environ(settings.environ)
    return {"api": endpoints.api, "pages": endpoints.pages}


def _build(_inputs: Inputs, context: BuildContext) -> "Investigator":
    from marchwarden.researchers.arxiv.agent import ArxivResearcher

    return ArxivResearcher(context.environ, mind=context.mind, trace_dir=context.store, gate=context.gate)


def _from_trace(_described: SourceDescription, context: BuildContext) -> "Investigator":
    """Build it from the current environment, because a mirror named in a trace may no longer exist."""
    return _build(Inputs(), context)


def _recheck_source(_described: SourceDescription, context: BuildContext) -> "Source":
    """Build the source with an empty library, so that papers are fetched from arXiv."""
    from marchwarden.researchers.arxiv.agent import arxiv_source
    from marchwarden.researchers.arxiv.library import Library

    source = arxiv_source(context.environ, context.store, gate=context.gate)
    source.library = Library(context.store.folder / "library")
    return source


def _services(environ: Mapping[str, str]) -> Sequence[ExternalService]:
    from marchwarden.researchers.arxiv.models import Endpoints
    from marchwarden.researchers.arxiv.rate_limit import SERVICE

    endpoints = Endpoints.from_environ(environ)
    return (ExternalService(SERVICE, "arXiv", endpoints.api, endpoints.seconds, one_at_a_time=True),)


def _status(_environ: Mapping[str, str]) -> str:
    return "needs no key; `marchwarden arxiv add ID` stores papers for offline use"


SPEC: Final = ResearcherSpec(
    kind="arxiv",
    purpose="Answers from scientific preprints: searches arXiv, reads papers in full, and cites author and year.",
    scope=_SCOPE,
    describe=_describe,
    build=_build,
    from_trace=_from_trace,
    recheck_source=_recheck_source,
    locators=r"arxiv\s*:|https?://(?:[a-z]+\.)?arxiv\.org/(?:abs|pdf|html)/",
    services=_services,
    status=_status,
    serve_help="""Serve the arXiv researcher over MCP, on stdio or HTTP.

    Searches arXiv, or the mirror at MARCHWARDEN_ARXIV_URL, and the papers of the local library.

    \b
    marchwarden serve arxiv
    marchwarden serve arxiv --http 127.0.0.1:8732 --token-env MY_TOKEN
    """,
)
