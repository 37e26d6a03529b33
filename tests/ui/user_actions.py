"""Actions of a user on the page, and sample data to ask about."""

import sqlite3
from pathlib import Path

from tests.ui.tab import Tab
from tests.world.folder import a_folder

QUESTION = "When was the Alder Bridge opened and by whom?"
IN_REPORT = "document.querySelector('iframe')?.contentDocument"


def make_library(folder: Path) -> Path:
    """Create a folder of notes and a database about the same bridge."""
    a_folder(folder / "library")
    with sqlite3.connect(folder / "bridges.sqlite") as database:
        database.execute("CREATE TABLE bridge (name TEXT, opened INTEGER, span INTEGER)")
        database.executemany("INSERT INTO bridge VALUES (?, ?, ?)", [("Alder Bridge", 1931, 212), ("Dorn", 1899, 90)])
    database.close()
    return folder


def ask(tab: Tab, question: str, folders: object, databases: object = "") -> None:
    for name, value in (("question", question), ("folders", folders), ("databases", databases)):
        tab.point(f"#{name}", click=True)
        tab.call("Input.insertText", text=str(value))
    tab.point("button.primary", click=True)


def wait_for_report(tab: Tab) -> str:
    """Wait for the report of a run. Return its path within the site."""
    assert tab.wait_until(f"{IN_REPORT}?.querySelector('.marker')")
    return str(tab.evaluate("location.pathname.slice(location.pathname.indexOf('/runs/'))"))
