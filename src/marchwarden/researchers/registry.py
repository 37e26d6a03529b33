"""Find the kinds of researcher: built-in ones, and those that installed packages add as entry points.

    [project.entry-points."marchwarden.researchers"]
    rss = "my_package.spec:SPEC"

A package that cannot be loaded is skipped and logged.
"""

import logging
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from marchwarden.core.kinds import BUILT_IN, RESERVED, entry_points
from marchwarden.researchers.spec import ResearcherSpec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_log: Final = logging.getLogger(__name__)


def researcher_specs() -> Mapping[str, ResearcherSpec]:
    """Return the specs of all kinds, built-in ones first."""
    return _load(tuple(sys.path))


def researcher_spec(kind: str) -> ResearcherSpec | None:
    """Return the spec of one kind, or None. For a built-in kind, other specs are not imported."""
    return _built_in(kind) if kind in BUILT_IN else researcher_specs().get(kind)


def _built_in(kind: str) -> ResearcherSpec:
    spec: ResearcherSpec = import_module(f"marchwarden.researchers.{kind}.spec").SPEC
    return spec


@lru_cache(maxsize=1)
def _load(_path: tuple[str, ...]) -> Mapping[str, ResearcherSpec]:
    """Load all kinds. The import path is the cache key, because it determines which packages are installed."""
    specs = {kind: _built_in(kind) for kind in BUILT_IN}
    for entry in entry_points():
        try:
            spec = _load_entry_point(entry, specs)
        except Exception as error:  # noqa: BLE001 - a third-party package may raise anything on import
            _log.error("skipping researcher %s of package %s: %s", entry.name, _package(entry), _reason(error))
        else:
            specs[spec.kind] = spec
    return specs


def _load_entry_point(entry: "EntryPoint", specs: Mapping[str, ResearcherSpec]) -> ResearcherSpec:
    if entry.name in specs or entry.name in RESERVED:
        raise ValueError("this name is already used")
    spec = entry.load()
    if not isinstance(spec, ResearcherSpec):
        raise TypeError(f"{entry.value} is not a ResearcherSpec")
    if spec.kind != entry.name:
        raise ValueError(f"its kind is {spec.kind!r}, but the entry point is called {entry.name!r}")
    existing = [option for each in specs.values() for option in each.inputs]
    taken = {other.name for other in existing} | {other.flag for other in existing}
    for option in spec.inputs:
        if option.name in taken or option.flag in taken:
            raise ValueError(f"another researcher already uses the option {option.flag} or the input {option.name}")
    return replace(spec, package=_package(entry))


def _package(entry: "EntryPoint") -> str:
    return entry.dist.name if entry.dist else entry.value


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
