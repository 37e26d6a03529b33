"""The web application: its routes, static files and error pages."""

from collections.abc import Mapping
from http import HTTPStatus
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
from marchwarden.ui.views.frame import error_page

_STATIC: Final[Mapping[str, str]] = {"page.css": "text/css", "page.js": "text/javascript"}


def create_app(dependencies: UiDependencies, queue: JobQueue) -> Starlette:
    """Build the application. The caller adds access control and closes the queue."""
    catalog = RunCatalog(dependencies.store)
    return Starlette(
        routes=[
            Route("/static/{name}", _static),
            *AskRoutes(dependencies, queue, catalog).routes(),
            *RunRoutes(dependencies, queue, catalog).routes(),
        ],
        exception_handlers={HTTPException: _http_error, MarchwardenError: _known_error, Exception: _internal_error},
    )


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    text = files("marchwarden.ui").joinpath("static", name).read_text(encoding="utf-8")
    return Response(text, media_type=_STATIC[name])


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    title = "Page not found" if error.status_code == HTTPStatus.NOT_FOUND else "Request failed"
    return HTMLResponse(error_page(title, error.detail), error.status_code)


async def _known_error(_request: Request, error: Exception) -> Response:
    if isinstance(error, UnknownTrace):
        return HTMLResponse(error_page("Run not found", str(error)), 404)
    return HTMLResponse(error_page("Request failed", str(error)), 400 if isinstance(error, InvalidInput) else 500)


async def _internal_error(_request: Request, error: Exception) -> Response:
    """Show the error in full: the user of this page may see everything anyway."""
    return HTMLResponse(error_page("Internal error", f"{type(error).__name__}: {error}"), 500)
