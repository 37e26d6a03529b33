"""Serve the files researcher over MCP: `python -m marchwarden.researchers.files`."""

from marchwarden.researchers.files.spec import SPEC
from marchwarden.researchers.serve import serve_command

serve_files = serve_command(SPEC)
