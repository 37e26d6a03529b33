"""A third-party researcher that answers from RSS files."""
