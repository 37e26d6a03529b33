"""What can go wrong between us and the engine."""

from marchwarden.errors import MarchwardenError


class EngineUnavailable(MarchwardenError):
    """Nobody answers where the engine should be."""


class RunFailed(MarchwardenError):
    """The engine gave a run up, or somebody cancelled it. Its trace is there, and `runs retry` goes on with it."""
