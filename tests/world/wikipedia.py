"""MediaWiki's search API at `/w/api.php`, and the articles. Finds encyclopaedia articles only."""

import html
import re
from urllib.parse import parse_qs

from tests.world.search import SearchEngine, SearchHit, SearchRequest, json_reply, words
from tests.world.server import Behaviour, Handler, Reply, Request

DEFAULT_LIMIT = 10
MOST = 500
EDITED = "2024-06-01T12:00:00Z"


class Wikipedia:
    """`articles` serves everything that is not the API."""

    def __init__(self, searches: SearchEngine, articles: Handler) -> None:
        self._searches = searches
        self._articles = articles

    def __call__(self, request: Request) -> Reply | Behaviour:
        command = SearchRequest.parse(request)
        if not command.path.endswith("/api.php"):
            return self._articles(request)
        if command.trouble.isdigit():
            return Reply(
                int(command.trouble), b"<html><body>Wikimedia Error</body></html>", (("Content-Type", "text/html"),)
            )
        if command.trouble == "api-error":
            return _error("ratelimited", "You've exceeded your rate limit.")
        return self._searches.fault_reply(request, command) or self._answer(request, command)

    def _answer(self, request: Request, command: SearchRequest) -> Reply:
        asked = {**request.query, **{name: each[-1] for name, each in parse_qs(request.body.decode()).items()}}
        if asked.get("action") != "query" or asked.get("format") != "json":
            return _error("badvalue", "Unrecognized value for parameter.")
        generated = asked.get("generator") == "search"
        prefix = "gsr" if generated else "sr"
        if not asked.get(f"{prefix}search"):
            return _error("missingparam", f'The "{prefix}search" parameter must be set.')
        found = self._found(asked[f"{prefix}search"], command, asked.get(f"{prefix}limit", ""))
        modern = asked.get("formatversion") == "2"
        return _generated(found, modern=modern) if generated else _listed(found, asked["srsearch"], modern=modern)

    def _found(self, query: str, command: SearchRequest, limit: str) -> list[SearchHit]:
        """Articles with all words of the query, or any word if it contains OR, and the bait."""
        any_of = " OR " in query
        wanted = words(query.replace(" OR ", " "))
        articles = [
            each
            for each in self._searches.results(" ".join(wanted), command)
            if not each.page
            or (each.page.site == "wikipedia" and (any_of or wanted <= words(f"{each.title} {each.page.words}")))
        ]
        return articles[: int(limit) if limit.isdigit() else MOST if limit == "max" else DEFAULT_LIMIT]


def _listed(found: list[SearchHit], query: str, *, modern: bool) -> Reply:
    rows = [
        {
            "ns": 0,
            "title": each.title,
            "pageid": 1000 + at,
            "size": len(each.content) * 9,
            "wordcount": len(each.content.split()),
            "snippet": _marked(each.content, query),
            "timestamp": EDITED,
        }
        for at, each in enumerate(found)
    ]
    complete = {"batchcomplete": True if modern else ""}
    return json_reply({**complete, "query": {"searchinfo": {"totalhits": len(rows)}, "search": rows}})


def _generated(found: list[SearchHit], *, modern: bool) -> Reply:
    pages = [
        {
            "pageid": 1000 + at,
            "ns": 0,
            "title": each.title,
            "index": at + 1,
            "touched": EDITED,
            "fullurl": each.url,
            "canonicalurl": each.url,
            "extract": each.content,
        }
        for at, each in enumerate(found)
    ]
    if not pages:
        return json_reply({"batchcomplete": True if modern else ""})
    listed: object = pages if modern else {str(page["pageid"]): page for page in pages}
    return json_reply({"batchcomplete": True if modern else "", "query": {"pages": listed}})


def _marked(text: str, query: str) -> str:
    """A snippet in MediaWiki's format: HTML with the matching words marked."""
    wanted = "|".join(map(re.escape, words(query)))
    escaped = html.escape(text)
    return re.sub(rf"\b({wanted})\b", r'<span class="searchmatch">\1</span>', escaped, flags=re.IGNORECASE)


def _error(code: str, info: str) -> Reply:
    """MediaWiki reports errors with status 200, in the body and a header."""
    return json_reply({"error": {"code": code, "info": info}, "servedby": "mw1"}, 200, ("MediaWiki-API-Error", code))
