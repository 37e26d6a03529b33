"""Browser interface: ask, watch, read, compare and verify on this machine. Knows no command line and no model."""
