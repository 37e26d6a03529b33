"""Check the indexes of folders for `marchwarden doctor`. They are a cache: deleting one costs only time."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from marchwarden.researchers.spec import DoctorCheck

_SHOWN: Final = 3


def check_indexes(folder: Path, *, whole: bool) -> DoctorCheck:
    try:
        found = sorted(folder.glob("*/v*/documents.sqlite"))
    except OSError as error:
        detail = f"{folder} cannot be read: {error.strerror}"
        return DoctorCheck(
            "index", "broken", detail, "make the folder readable; until then, the index is kept in memory"
        )
    counts = {path: _count_documents(path, whole=whole) for path in found}
    damaged = [str(path.parents[1]) for path, count in counts.items() if count is None]
    if damaged:
        more = f" and {len(damaged) - _SHOWN} more" if len(damaged) > _SHOWN else ""
        detail = f"damaged: {', '.join(damaged[:_SHOWN])}{more}"
        return DoctorCheck("index", "broken", detail, "delete the folder; the next question rebuilds it")
    documents = sum(filter(None, counts.values()))
    return DoctorCheck(
        "index", "ok", f"folders {len(found)}, documents {documents}" if found else "no folder indexed yet"
    )


def _count_documents(path: Path, *, whole: bool) -> int | None:
    """Return how many documents an index holds, or None if it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2)) as database:
            if whole and database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                return None
            return int(database.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.OperationalError as error:
        # An index that another process writes to is not damaged.
        return 0 if error.sqlite_errorcode in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} else None
    except sqlite3.Error:
        return None
