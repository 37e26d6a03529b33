"""Serve the arXiv researcher over MCP: `python -m marchwarden.researchers.arxiv`."""

from marchwarden.researchers.arxiv.spec import SPEC
from marchwarden.researchers.serve import serve_command

serve_arxiv = serve_command(SPEC)
