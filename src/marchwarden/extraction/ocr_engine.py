"""Turn a picture of a page into lines with RapidOCR and the models in its wheel. Needs the extra `ocr`, no network."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Final

import cv2
import numpy as np
import rapidocr
from numpy.typing import NDArray
from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError
from rapidocr.utils.output import RapidOCROutput

from marchwarden.extraction.pdf_lines import Cell, Line

_DETECTED_SIDE: Final = 1280
"""Text is found in a picture of at most this many pixels a side. 960 lost a line of a page; 2000 took longer."""
_FONT_SHARE: Final = 0.75
"""The size of a font, as a share of the height of the box around a line."""
_SIZE_STEP: Final = 1.4
"""The heights of boxes differ with the letters in them, so only clear differences in size count."""
_CELL_GAP: Final = 1.1
_COLUMN_LINES: Final = 5
_COLUMN_CHARACTERS: Final = 15
_CROSSING_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Box:
    """A piece of text and its place in the picture, in pixels from the top left."""

    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


class OcrEngine:
    def __init__(self) -> None:
        cv2.setNumThreads(1)
        models = Path(rapidocr.__file__).parent / "models"
        self._ocr = rapidocr.RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                # Six lines at a time, with an arena, take as long but 500 MB more: too near the limit of a worker.
                "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,
                "Rec.rec_batch_num": 1,
                "Det.limit_type": "max",
                "Det.limit_side_len": _DETECTED_SIDE,
                # Given explicitly, because the library would download a model that it does not find.
                "Det.model_path": str(_model(models, "det")),
                "Rec.model_path": str(_model(models, "rec")),
            }
        )

    def read(self, picture: NDArray[np.uint8], number: int) -> list[Line] | None:
        """Return the lines of a picture in reading order, or `None` if the engine fails, mostly for lack of memory."""
        try:
            found = self._ocr(picture)
        except (ONNXRuntimeError, cv2.error):
            return None
        if not isinstance(found, RapidOCROutput) or found.boxes is None or found.txts is None:
            return []
        places = zip(found.boxes.min(axis=1).tolist(), found.boxes.max(axis=1).tolist(), found.txts, strict=True)
        boxes = [
            Box(left, top, right, bottom, text.strip()) for (left, top), (right, bottom), text in places if text.strip()
        ]
        return to_lines(boxes, number, *picture.shape[1::-1])


def _model(folder: Path, part: str) -> Path:
    models = sorted(folder.glob(f"*{part}*.onnx"))
    if not models:
        raise ImportError("the models of rapidocr are missing", name="rapidocr")
    return models[-1]


def to_lines(boxes: Sequence[Box], number: int, width: float, height: float) -> list[Line]:
    """Order boxes as a person reads them, column by column, and join those beside each other to lines."""
    if not boxes:
        return []
    usual = median(box.height for box in boxes)
    rows = [row for part in _columns(boxes, width) for row in _rows(part)]
    return [_line(row, number, height, usual) for row in rows]


def _columns(boxes: Sequence[Box], width: float) -> list[list[Box]]:
    """Split boxes at a gap in the middle of the page, if there are two columns. Wide boxes separate parts."""
    ordered = sorted(boxes, key=lambda box: box.middle)
    gap = _gap(ordered, width)
    if gap is None:
        return [ordered]
    parts: list[list[Box]] = []
    left: list[Box] = []
    right: list[Box] = []
    for box in ordered:
        if box.left < gap < box.right:
            parts += [left, right, [box]]
            left, right = [], []
        else:
            (left if box.right <= gap else right).append(box)
    return [part for part in (*parts, left, right) if part]


def _gap(boxes: Sequence[Box], width: float) -> float | None:
    """Return where the gap between two columns of text is. Tables have gaps, too, but their cells are short."""
    places = [width * share / 100 for share in range(35, 66)]
    crossing = [sum(box.left < place < box.right for box in boxes) for place in places]
    place = places[crossing.index(min(crossing))]
    left = [box for box in boxes if box.right <= place]
    right = [box for box in boxes if box.left >= place]
    if min(crossing) > _CROSSING_SHARE * len(boxes) or not (_is_column(left) and _is_column(right)):
        return None
    return place


def _is_column(boxes: Sequence[Box]) -> bool:
    return len(boxes) >= _COLUMN_LINES and median(len(box.text) for box in boxes) >= _COLUMN_CHARACTERS


def _rows(boxes: Sequence[Box]) -> list[list[Box]]:
    """Group boxes that are beside each other, from left to right."""
    rows: list[list[Box]] = []
    for box in boxes:
        if rows and abs(box.middle - rows[-1][0].middle) < min(box.height, rows[-1][0].height) / 2:
            rows[-1].append(box)
        else:
            rows.append([box])
    return [sorted(row, key=lambda box: box.left) for row in rows]


def _line(row: Sequence[Box], number: int, height: float, usual: float) -> Line:
    steps = round(math.log(max(median(box.height for box in row), 1.0) / max(usual, 1.0), _SIZE_STEP))
    size = usual * _SIZE_STEP**steps * _FONT_SHARE
    cells: list[Cell] = []
    for box in row:
        if cells and box.left - cells[-1].right <= _CELL_GAP * size:
            cells[-1] = Cell(cells[-1].left, box.right, f"{cells[-1].text} {box.text}")
        else:
            cells.append(Cell(box.left, box.right, box.text))
    middle = median(box.middle for box in row)
    line = Line(
        text=" ".join(box.text for box in row),
        page=number,
        left=row[0].left,
        right=row[-1].right,
        base=-middle,
        size=size,
        edge=1 - middle / max(height, 1.0),
        cells=tuple(cells) if len(cells) > 1 else (),
    )
    return _split_hyphen(line)


def _split_hyphen(line: Line) -> Line:
    """Mark a line that ends in the middle of a word, as the text layer of a PDF does."""
    if line.text.endswith("-") and line.text[-2:-1].isalpha():
        return replace(line, text=line.text[:-1], hyphenated=True)
    return line
