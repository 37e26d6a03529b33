"""Serve the web researcher over MCP: `python -m marchwarden.researchers.web`."""

from marchwarden.researchers.serve import serve_command
from marchwarden.researchers.web.spec import SPEC

serve_web = serve_command(SPEC)
