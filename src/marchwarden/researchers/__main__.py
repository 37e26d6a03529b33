"""Serve a researcher over MCP: `python -m marchwarden.researchers KIND [OPTIONS]`."""

import sys

from marchwarden.researchers.registry import researcher_spec, researcher_specs
from marchwarden.researchers.serve import serve_command

kind = sys.argv[1] if len(sys.argv) > 1 else ""
spec = researcher_spec(kind)
if spec is None:
    sys.exit(f"usage: python -m marchwarden.researchers {{{','.join(researcher_specs())}}} [OPTIONS]")
serve_command(spec).main(sys.argv[2:], prog_name=f"python -m marchwarden.researchers {kind}")
