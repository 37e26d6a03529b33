"""Reports: export a finished run as HTML, Markdown, JSON or a bibliography. Only `load` reads the disk."""
