"""Check which of the required and optional libraries are installed, by the metadata of the package."""

import re
import sys
from collections.abc import Iterator

from marchwarden.researchers.spec import CheckState, DoctorCheck


def versions() -> Iterator[DoctorCheck]:
    from importlib.metadata import metadata, version

    yield DoctorCheck("python", "ok", f"{sys.version.split()[0]}; marchwarden {version('marchwarden')}")
    for extra in ("", *(metadata("marchwarden").get_all("Provides-Extra") or ())):
        if extra not in {"all", "dev"}:
            yield _libraries(extra)


def _libraries(extra: str) -> DoctorCheck:
    from importlib.metadata import PackageNotFoundError, version

    installed, missing = [], []
    for name in _required(extra):
        try:
            installed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    subject = f"extra [{extra}]" if extra else "libraries"
    if not missing:
        return DoctorCheck(subject, "ok", ", ".join(installed))
    package = f"marchwarden[{extra}]" if extra else "--force-reinstall marchwarden"
    state: CheckState = "missing" if extra else "broken"
    return DoctorCheck(subject, state, f"not installed: {', '.join(missing)}", f"pip install '{package}'")


def _required(extra: str) -> Iterator[str]:
    """Yield the names of what an extra requires (`""`: the package itself), including other extras it consists of."""
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
