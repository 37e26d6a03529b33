"""Serve the database researcher over MCP: `python -m marchwarden.researchers.database`."""

from marchwarden.researchers.database.spec import SPEC
from marchwarden.researchers.serve import serve_command

serve_database = serve_command(SPEC)
