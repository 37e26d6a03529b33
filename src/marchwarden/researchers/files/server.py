"""The files researcher as an MCP server: `python -m marchwarden.researchers.files`."""

from marchwarden.researchers.files.spec import SPEC
from marchwarden.researchers.serve import serve_command

serve_files = serve_command(SPEC)
