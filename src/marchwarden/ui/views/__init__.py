"""The HTML of each page, built from values already loaded."""
