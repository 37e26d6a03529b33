"""A researcher that another package could bring: it answers from RSS files."""
