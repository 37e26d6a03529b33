"""What a person does with the page, and what there is to ask about."""

import sqlite3
from pathlib import Path

from tests.ui.tab import Tab
from tests.world.folder import a_folder

QUESTION = "When was the Alder Bridge opened and by whom?"
IN_REPORT = "document.querySelector('iframe')?.contentDocument"


def a_library(at: Path) -> Path:
    """A folder and a database that speak of the same bridge."""
    a_folder(at / "library")
    with sqlite3.connect(at / "bridges.sqlite") as database:
        database.execute("CREATE TABLE bridge (name TEXT, opened INTEGER, span INTEGER)")
        database.executemany("INSERT INTO bridge VALUES (?, ?, ?)", [("Alder Bridge", 1931, 212), ("Dorn", 1899, 90)])
    database.close()
    return at


def ask(tab: Tab, question: str, folders: object, databases: object = "") -> None:
    for name, value in (("question", question), ("folders", folders), ("databases", databases)):
        tab.point(f"#{name}", click=True)
        tab.call("Input.insertText", text=str(value))
    tab.point("button.primary", click=True)


def answered(tab: Tab) -> str:
    assert tab.becomes(f"{IN_REPORT}?.querySelector('.marker')")
    return str(tab.evaluate("location.pathname"))
