"""Collecting: one paper from arXiv into the library, and what to tell about it."""

from dataclasses import dataclass
from typing import Final

import anyio
from anyio import to_thread

from marchwarden.errors import SourceError, StorageError
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.researchers.arxiv.tools import ArxivSource

SECONDS: Final = 90.0
LOOKING_UP_SECONDS: Final = 30.0
_FORMS: Final = {"text/html": "HTML", "application/pdf": "PDF", "application/atom+xml": "abstract only"}


@dataclass(frozen=True)
class Collected:
    """Whether the paper is in the library now, and one line about it."""

    kept: bool
    told: str


async def collect(source: ArxivSource, name: ArxivId) -> Collected:
    """Look the paper up, read it, keep it. A version that is here already is not fetched again."""
    try:
        with anyio.fail_after(SECONDS):
            paper = await source.paper(name)
            here = await to_thread.run_sync(source.library.kept, paper.id)
            if here is not None and not paper.withdrawn:
                return Collected(kept=True, told=f"{paper.id} is in the library already")
            document = await source.document(paper, seconds=SECONDS - LOOKING_UP_SECONDS)
        await to_thread.run_sync(source.library.add, paper, document)
    except (SourceError, StorageError, TimeoutError) as error:
        return Collected(kept=False, told=f"{name}: {str(error) or f'not had within {SECONDS:g} s'}")
    form = _FORMS.get(document.media_type, document.media_type)
    return Collected(kept=True, told=f"added {paper.id}  {paper.citation}: {form}, {len(document.text):,} characters")
