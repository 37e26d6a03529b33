"""Build notebooks from a question and texts, and let the extractive mind read and conclude them."""

from marchwarden.core.budget import Allowance
from marchwarden.core.notebook import Document, Draft, Notebook, Reading
from marchwarden.minds.extractive import ExtractiveMind

PLENTY = Allowance(tokens=20_000, sources=10, iterations=5, seconds=60.0)


def notebook_of(question: str, *texts: str, context: str = "", titles: tuple[str, ...] = ()) -> Notebook:
    notebook = Notebook(question, context)
    for number, text in enumerate(texts):
        title = titles[number] if titles else ""
        notebook.add(Document("file", f"{number}.md", text.encode(), text, title=title))
    return notebook


async def read_all(notebook: Notebook) -> Reading:
    mind = ExtractiveMind()
    plan = (await mind.plan(notebook, PLENTY)).value
    notebook.aspects = plan.aspects
    notebook.queries.extend(plan.queries)
    reading = (await mind.read(notebook, notebook.passages, PLENTY)).value
    notebook.note(reading, notebook.passages)
    return reading


async def conclude(notebook: Notebook) -> Draft:
    await read_all(notebook)
    return (await ExtractiveMind().conclude(notebook, PLENTY)).value
