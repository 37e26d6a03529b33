"""Versions: what is installed of what the package needs and of what its extras need, as the package itself says."""

import re
import sys
from collections.abc import Iterator

from marchwarden.cli.commands.doctor import Finding, State


def versions() -> Iterator[Finding]:
    """Python, what the package needs, and what its extras need, as the package itself says."""
    from importlib.metadata import metadata, version

    yield Finding("python", "ok", f"{sys.version.split()[0]}; marchwarden {version('marchwarden')}")
    for extra in ("", *(metadata("marchwarden").get_all("Provides-Extra") or ())):
        if extra not in {"all", "dev"}:
            yield _libraries(extra)


def _libraries(extra: str) -> Finding:
    from importlib.metadata import PackageNotFoundError, version

    there, gone = [], []
    for name in _required(extra):
        try:
            there.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            gone.append(name)
    subject = f"extra [{extra}]" if extra else "libraries"
    if not gone:
        return Finding(subject, "ok", ", ".join(there))
    package = f"marchwarden[{extra}]" if extra else "--force-reinstall marchwarden"
    state: State = "missing" if extra else "broken"
    return Finding(subject, state, f"not installed: {', '.join(gone)}", f"pip install '{package}'")


def _required(extra: str) -> Iterator[str]:
    """The names of what an extra needs, or of what is needed without any; other extras it stands for included."""
    from importlib.metadata import requires

    for line in requires("marchwarden") or ():
        requirement, _, marker = line.partition(";")
        named = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        if (named[1] if named else "") != extra:
            continue
        name = re.match(r"[\w.-]+", requirement.strip())
        within = re.search(r"\[(.+?)\]", requirement)
        if name and name[0] == "marchwarden" and within:
            yield from (each for inner in within[1].split(",") for each in _required(inner.strip()))
        elif name:
            yield name[0]
