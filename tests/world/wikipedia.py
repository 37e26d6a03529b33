"""MediaWiki's search API at `/w/api.php`, beside the articles themselves. Finds encyclopaedia articles only."""

import html
import re
from urllib.parse import parse_qs

from tests.world.searching import Errand, Found, Searches, answered, words
from tests.world.server import Behaviour, Handler, Reply, Request

DEFAULT_LIMIT = 10
MOST = 500
EDITED = "2024-06-01T12:00:00Z"


class Wikipedia:
    """`articles` serves everything that is not the API."""

    def __init__(self, searches: Searches, articles: Handler) -> None:
        self._searches = searches
        self._articles = articles

    def __call__(self, request: Request) -> Reply | Behaviour:
        errand = Errand.of(request)
        if not errand.path.endswith("/api.php"):
            return self._articles(request)
        if errand.trouble.isdigit():
            return Reply(
                int(errand.trouble), b"<html><body>Wikimedia Error</body></html>", (("Content-Type", "text/html"),)
            )
        if errand.trouble == "api-error":
            return _error("ratelimited", "You've exceeded your rate limit.")
        return self._searches.spoiled(request, errand) or self._answer(request, errand)

    def _answer(self, request: Request, errand: Errand) -> Reply:
        asked = {**request.query, **{name: each[-1] for name, each in parse_qs(request.body.decode()).items()}}
        if asked.get("action") != "query" or asked.get("format") != "json":
            return _error("badvalue", "Unrecognized value for parameter.")
        generated = asked.get("generator") == "search"
        prefix = "gsr" if generated else "sr"
        if not asked.get(f"{prefix}search"):
            return _error("missingparam", f'The "{prefix}search" parameter must be set.')
        found = self._found(asked[f"{prefix}search"], errand, asked.get(f"{prefix}limit", ""))
        modern = asked.get("formatversion") == "2"
        return _generated(found, modern=modern) if generated else _listed(found, asked["srsearch"], modern=modern)

    def _found(self, query: str, errand: Errand, limit: str) -> list[Found]:
        """Articles with all the words asked for, or with any where the query says OR; and whatever is baited."""
        any_of = " OR " in query
        wanted = words(query.replace(" OR ", " "))
        articles = [
            each
            for each in self._searches.results(" ".join(wanted), errand)
            if not each.page
            or (each.page.site == "wikipedia" and (any_of or wanted <= words(f"{each.title} {each.page.words}")))
        ]
        return articles[: int(limit) if limit.isdigit() else MOST if limit == "max" else DEFAULT_LIMIT]


def _listed(found: list[Found], query: str, *, modern: bool) -> Reply:
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
    return answered({**complete, "query": {"searchinfo": {"totalhits": len(rows)}, "search": rows}})


def _generated(found: list[Found], *, modern: bool) -> Reply:
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
        return answered({"batchcomplete": True if modern else ""})
    listed: object = pages if modern else {str(page["pageid"]): page for page in pages}
    return answered({"batchcomplete": True if modern else "", "query": {"pages": listed}})


def _marked(text: str, query: str) -> str:
    """The snippet as MediaWiki gives it: HTML, with the words searched for marked."""
    wanted = "|".join(map(re.escape, words(query)))
    escaped = html.escape(text)
    return re.sub(rf"\b({wanted})\b", r'<span class="searchmatch">\1</span>', escaped, flags=re.IGNORECASE)


def _error(code: str, info: str) -> Reply:
    """MediaWiki fails with status 200; only the body and a header say so."""
    return answered({"error": {"code": code, "info": info}, "servedby": "mw1"}, 200, ("MediaWiki-API-Error", code))
