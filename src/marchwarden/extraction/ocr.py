"""Read pictures of pages by optical character recognition (OCR), if the extra is installed. Imports it when used."""

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from marchwarden.extraction.document import Unreadable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from marchwarden.extraction.ocr_engine import OcrEngine
    from marchwarden.extraction.pdf_lines import Line

INSTALL_HINT: Final = "install marchwarden[ocr] to read it"
OCR_SECONDS: Final = 180.0
"""For one document. A page takes about three seconds of one core."""
LONGEST_SIDE: Final = 2000
"""In pixels: 170 dpi for a page of A4. The engine reduces larger pictures anyway."""

OcrBudget = Callable[[], float]
"""Called before OCR begins. Extends the time limit and returns how many seconds OCR may take."""


def default_budget() -> float:
    return OCR_SECONDS


def is_installed() -> bool:
    return all(find_spec(name) is not None for name in ("rapidocr", "onnxruntime", "PIL"))


def require(what: str) -> None:
    """Raise `Unreadable` with a hint unless OCR is installed. `what`: such as "an image"."""
    if not is_installed():
        raise Unreadable(f"{what}; {INSTALL_HINT}")


class OcrReader:
    """Reads the pages of one document until the time for it is used up."""

    def __init__(self, budget: OcrBudget) -> None:
        self._budget = budget
        self._engine: OcrEngine | None = None
        self._until = 0.0
        self._slowest = 0.0
        self.left_out: list[int] = []
        self.read: list[int] = []

    def read_page(self, number: int, render: "Callable[[], NDArray[np.uint8]]") -> "list[Line]":
        """Return the lines of a page, or nothing if it fails or there is no time left. `render` makes its picture."""
        if self._engine is None:
            from marchwarden.extraction.ocr_engine import OcrEngine  # noqa: PLC0415 - the import takes two seconds

            self._until = time.monotonic() + self._budget()
            self._engine = OcrEngine()
        started = time.monotonic()
        if self.read and started + 2 * self._slowest > self._until:
            self.left_out.append(number)
            return []
        lines = self._engine.read(render(), number)
        if lines is None:
            self.left_out.append(number)
            return []
        self._slowest = max(self._slowest, time.monotonic() - started)
        self.read.append(number)
        return lines

    def remark(self, pages: int) -> str:
        """Say which pages were read by OCR, for the title of the document. Empty if none was."""
        if not self.read:
            return ""
        if self.left_out:
            return f"{len(self.read)} of {pages} pages read by OCR, {len(self.left_out)} left out"
        return "text read by OCR" if len(self.read) == pages else f"{len(self.read)} of {pages} pages read by OCR"
