"""`SPEC` of the web researcher. Imports the researcher only when it is built."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from marchwarden.core.inputs import Inputs
from marchwarden.researchers.spec import BuildContext, ExternalService, ResearcherSpec, SourceDescription

if TYPE_CHECKING:
    from marchwarden.loop.investigator import Investigator
    from marchwarden.researchers.web.models import Provider
    from marchwarden.settings import Settings

ALLOWED_HOSTS: Final = "MARCHWARDEN_ALLOW_HOSTS"
_TAVILY: Final = "TAVILY_API_KEY"
_SEARXNG: Final = "MARCHWARDEN_SEARXNG_URL"
_LABELS: Final = {"tavily": "Tavily", "searxng": "SearXNG", "wikipedia": "Wikipedia"}


def _describe(_inputs: Inputs, settings: "Settings") -> SourceDescription:
    provider = _provider(settings.environ)
    return {"provider": provider.name, **provider.settings}


def _build(_inputs: Inputs, context: BuildContext) -> "Investigator":
    from marchwarden.researchers.web.agent import WebResearcher

    return WebResearcher(context.environ, mind=context.mind, trace_dir=context.store, gate=context.gate)


def _from_trace(_described: SourceDescription, context: BuildContext) -> "Investigator":
    """Build it from the current environment, because a trace contains no keys and addresses."""
    return _build(Inputs(), context)


def _services(environ: Mapping[str, str]) -> Sequence[ExternalService]:
    provider = _provider(environ)
    return (ExternalService(provider.name, _LABELS[provider.name], str(provider.settings["url"])),)


def _provider(environ: Mapping[str, str]) -> "Provider":
    """Return the search provider. Raises `InvalidInput` for settings that cannot be read."""
    from marchwarden.fetching import AllowedHosts, ApiClient
    from marchwarden.researchers.web.providers import select_provider

    AllowedHosts.parse(environ.get(ALLOWED_HOSTS, ""))
    return select_provider(environ, ApiClient())


def _status(environ: Mapping[str, str]) -> str:
    if environ.get(_TAVILY):
        return "searches with Tavily"
    return "searches with SearXNG" if environ.get(_SEARXNG) else "searches Wikipedia only: set TAVILY_API_KEY for more"


SPEC: Final = ResearcherSpec(
    kind="web",
    purpose="Answers from the open web: searches, fetches pages politely, and cites them word for word.",
    describe=_describe,
    build=_build,
    from_trace=_from_trace,
    locators=r"https?://|doi\s*:",
    services=_services,
    status=_status,
    opt_in=(_TAVILY, _SEARXNG),
    serve_help="""Serve the web researcher over MCP, on stdio or HTTP.

    Searches with Tavily if TAVILY_API_KEY is set, else with the SearXNG at MARCHWARDEN_SEARXNG_URL, else only
    Wikipedia.

    \b
    marchwarden serve web
    marchwarden serve web --http 127.0.0.1:8731 --token-env MY_TOKEN
    """,
)
