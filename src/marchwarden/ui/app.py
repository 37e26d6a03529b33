"""Application: the addresses of the page put together, its two files, and what is said when something is wrong."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from marchwarden.audit.catalog import RunCatalog
from marchwarden.errors import InvalidInput, MarchwardenError, UnknownTrace
from marchwarden.ui.ask_routes import AskRoutes
from marchwarden.ui.dependencies import UiDependencies
from marchwarden.ui.jobs import JobQueue
from marchwarden.ui.run_routes import RunRoutes
from marchwarden.ui.views.frame import trouble

_STATIC: Final[Mapping[str, str]] = {"page.css": "text/css", "page.js": "text/javascript"}


def application(house: UiDependencies, desk: JobQueue) -> Starlette:
    """The page. Whoever serves it puts the guard in front and closes the desk behind."""
    shelf = RunCatalog(house.store)
    return Starlette(
        routes=[
            Route("/static/{name}", _static),
            *AskRoutes(house, desk, shelf).routes(),
            *RunRoutes(house, desk, shelf).routes(),
        ],
        exception_handlers={HTTPException: _missing, MarchwardenError: _refused, Exception: _broken},
    )


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    text = files("marchwarden.ui").joinpath("static", name).read_text(encoding="utf-8")
    return Response(text, media_type=_STATIC[name])


async def _missing(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return HTMLResponse(trouble("There is no such page", error.detail), error.status_code)


async def _refused(_request: Request, error: Exception) -> Response:
    if isinstance(error, UnknownTrace):
        return HTMLResponse(trouble("There is no such run", str(error)), 404)
    return HTMLResponse(trouble("That cannot be done", str(error)), 400 if isinstance(error, InvalidInput) else 500)


async def _broken(_request: Request, error: Exception) -> Response:
    """A fault of ours is told as one; nothing of it is hidden from who may see everything anyway."""
    return HTMLResponse(trouble("An error of ours", f"{type(error).__name__}: {error}"), 500)
