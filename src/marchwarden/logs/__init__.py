"""The operational log: what the program does, beside the trace that says what a run found. Never holds a secret.

Whoever has something to tell tells it here; where it goes is set up by the command line and the servers alone.
"""

from marchwarden.logs.events import log_event, timed, trace_context

__all__ = ["log_event", "timed", "trace_context"]
