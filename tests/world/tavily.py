"""The Tavily API: `POST /search` and `POST /extract`, a bearer key, and its error responses."""

import json
from datetime import date, timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tests.world.faults import AN_HOUR
from tests.world.search import SearchEngine, SearchHit, SearchRequest, json_reply, within
from tests.world.server import Behaviour, Reply, Request

REQUEST_ID: Final = "5f1d7a0e-0000-4000-8000-000000000000"
REFUSALS: Final = {
    400: "Query is missing.",
    401: "Unauthorized: missing or invalid API key.",
    403: "This key may not use this endpoint.",
    429: "Your request has been blocked due to excessive requests.",
    432: "This request exceeds your plan's set usage limit.",
    433: "This request exceeds the pay-as-you-go limit.",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}
_DAYS: Final = {"day": 1, "d": 1, "week": 7, "w": 7, "month": 30, "m": 30, "year": 365, "y": 365}


class SearchBody(BaseModel):
    """The supported part of a search body. Other fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    query: str = Field(min_length=1)
    search_depth: str = Field("basic", pattern="^(basic|advanced|fast|ultra-fast)$")
    topic: str = Field("general", pattern="^(general|news|finance)$")
    time_range: str | None = Field(None, pattern="^(day|week|month|year|[dwmy])$")
    start_date: str | None = None
    max_results: int = Field(5, ge=0, le=20)
    include_domains: list[str] = []
    exclude_domains: list[str] = []
    include_raw_content: bool | str = False


class ExtractBody(BaseModel):
    """The body of an extract request."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    urls: list[str] | str


class Tavily:
    def __init__(self, searches: SearchEngine, key: str, today: date) -> None:
        self._searches = searches
        self._key = key
        self._today = today

    def __call__(self, request: Request) -> Reply | Behaviour:
        command = SearchRequest.parse(request)
        if command.path not in ("/search", "/extract"):
            return json_reply({"detail": "Not Found"}, 404)
        if request.method != "POST":
            return json_reply({"detail": "Method Not Allowed"}, 405)
        fault_reply = _refused(command) or self._searches.fault_reply(request, command)
        if fault_reply:
            return fault_reply
        if request.headers.get("authorization") != f"Bearer {self._key}":
            return refusal(401)
        return self._search(request, command) if command.path == "/search" else self._extract(request)

    def _search(self, request: Request, command: SearchRequest) -> Reply:
        try:
            asked = SearchBody.model_validate_json(request.body)
        except ValidationError as error:
            return json_reply({"detail": {"error": f"Invalid request: {error.error_count()} problems."}}, 400)
        chosen = [each for each in self._searches.results(asked.query, command) if self._fits(each, asked)]
        return json_reply(
            {
                "query": asked.query,
                "follow_up_questions": None,
                "answer": None,
                "images": [],
                "results": [_result(each, asked) for each in chosen[: asked.max_results]],
                "response_time": 0.12,
                "request_id": REQUEST_ID,
            }
        )

    def _fits(self, found: SearchHit, asked: SearchBody) -> bool:
        if asked.include_domains and not within(found.url, asked.include_domains):
            return False
        if within(found.url, asked.exclude_domains):
            return False
        since = self._since(asked)
        return since is None or (found.published is not None and found.published >= since)

    def _since(self, asked: SearchBody) -> date | None:
        if asked.start_date:
            return date.fromisoformat(asked.start_date)
        return self._today - timedelta(days=_DAYS[asked.time_range]) if asked.time_range else None

    def _extract(self, request: Request) -> Reply:
        try:
            wanted = ExtractBody.model_validate(json.loads(request.body))
        except ValueError:
            return refusal(400)
        urls = [wanted.urls] if isinstance(wanted.urls, str) else wanted.urls
        pages = {url: self._searches.page_at(url) for url in urls}
        return json_reply(
            {
                "results": [
                    {"url": url, "raw_content": page.words, "images": []} for url, page in pages.items() if page
                ],
                "failed_results": [
                    {"url": url, "error": "Failed to fetch url"} for url, page in pages.items() if not page
                ],
                "response_time": 0.02,
                "request_id": REQUEST_ID,
            }
        )


def _refused(command: SearchRequest) -> Reply | None:
    if command.trouble == "retry-after":
        return refusal(429, ("Retry-After", str(AN_HOUR)))
    return refusal(int(command.trouble)) if command.trouble.isdigit() else None


def refusal(status: int, *headers: tuple[str, str]) -> Reply:
    return json_reply({"detail": {"error": REFUSALS.get(status, "Unknown error.")}}, status, *headers)


def _result(found: SearchHit, asked: SearchBody) -> dict[str, object]:
    raw = found.page.words if found.page and asked.include_raw_content else None
    fields: dict[str, object] = {"url": found.url, "title": found.title, "content": found.content}
    if asked.topic == "news" and found.published:
        fields["published_date"] = f"{found.published:%a, %d %b %Y} 08:00:00 GMT"
    return {**fields, "score": found.score, "raw_content": raw}
