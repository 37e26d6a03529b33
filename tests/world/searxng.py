"""A SearXNG instance: `/search?q=…&format=json`, or the same as a POST form."""

from datetime import date, timedelta
from typing import Final
from urllib.parse import parse_qs, urlsplit

from tests.world.search import SearchEngine, SearchHit, SearchRequest, json_reply
from tests.world.server import Behaviour, Reply, Request

A_PAGE: Final = 10
_HTML: Final = ("Content-Type", "text/html; charset=utf-8")
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}


class SearXNG:
    def __init__(self, searches: SearchEngine, today: date) -> None:
        self._searches = searches
        self._today = today

    def __call__(self, request: Request) -> Reply | Behaviour:
        command = SearchRequest.parse(request)
        if command.path.rstrip("/") not in ("", "/search"):
            return Reply(404, b"<h1>Not Found</h1>", (_HTML,))
        if command.trouble.isdigit():
            return Reply(int(command.trouble), b"<html><body>Too Many Requests</body></html>", (_HTML,))
        return self._searches.fault_reply(request, command) or self._answer(request, command)

    def _answer(self, request: Request, command: SearchRequest) -> Reply:
        asked = {**request.query, **{name: each[-1] for name, each in parse_qs(request.body.decode()).items()}}
        if asked.get("format") != "json":
            return Reply(200, b"<html><body>Results for people</body></html>", (_HTML,))
        if command.trouble == "json-disabled":
            return Reply(403, b"<h1>403 Forbidden</h1>", (_HTML,))  # the default of a new installation
        if not asked.get("q"):
            return json_reply({"error": "No query"}, 400)
        found = [each for each in self._searches.results(asked["q"], command) if self._recent(each, asked)]
        first = (int(asked.get("pageno", "1")) - 1) * A_PAGE
        return json_reply(
            {
                "query": asked["q"],
                "number_of_results": 0,
                "results": [_result(each, at) for at, each in enumerate(found[first : first + A_PAGE], 1)],
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": [["another engine", "timeout"]],
            }
        )

    def _recent(self, found: SearchHit, asked: dict[str, str]) -> bool:
        days = _DAYS.get(asked.get("time_range", ""))
        return days is None or (found.published is not None and found.published >= self._today - timedelta(days=days))


def _result(found: SearchHit, position: int) -> dict[str, object]:
    return {
        "url": found.url,
        "title": found.title,
        "content": found.content,
        "publishedDate": f"{found.published}T08:00:00" if found.published else None,
        "thumbnail": "",
        "engine": "world",
        "template": "default.html",
        "parsed_url": _parsed(found.url),
        "img_src": "",
        "priority": "",
        "engines": ["world"],
        "positions": [position],
        "score": round(1 / position, 4),
        "category": "general",
    }


def _parsed(url: str) -> list[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    return [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment]
