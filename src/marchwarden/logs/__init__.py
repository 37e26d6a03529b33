"""The operational log: what the program does, as opposed to the trace of a run. Secrets are removed.

Any module may log here. Only the command line and the servers decide where the log goes.
"""

from marchwarden.logs.events import log_event, log_unexpected, timed, trace_context

__all__ = ["log_event", "log_unexpected", "timed", "trace_context"]
