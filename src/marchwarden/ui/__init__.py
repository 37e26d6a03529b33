"""The page: ask, watch, read, compare and check in a browser on this machine. Knows no command line and no model."""
