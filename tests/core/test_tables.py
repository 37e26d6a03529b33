import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.core.blocks import Block, BlockKind
from marchwarden.core.cells import join_cells
from marchwarden.core.passages import Layout, split
from marchwarden.core.tables import Tables

MARKDOWN = """# Harbour

Figures of every spring.

| | 2019 | 2018 |
|---|---|---|
| Landings, tonnes | 1,452 | 1,146 |
| Ferries | 31 | |

The quay was repaired.
"""
FILED = """ |  | Years ended May 31, |
($ in millions) | 2019 | 2018
 | $ | $
Assets | |
Cash | 12.4 | 9
Total assets | 22.4 | 19
"""


def rows(text: str, layout: Layout = "prose") -> list[str]:
    tables = Tables(text, layout)
    spans = [(sentence.start, sentence.end) for passage in split(text, layout) for sentence in passage.sentences]
    return [row.text for span in spans if (row := tables.row(*span))]


def headings(text: str, layout: Layout = "prose") -> list[str]:
    tables = Tables(text, layout)
    pieces = [sentence for passage in split(text, layout) for sentence in passage.sentences]
    return [text[each.start : each.end] for each in pieces if tables.is_heading(each.start, each.end)]


def test_row_has_column_names_and_no_empty_cells():
    assert rows(MARKDOWN) == ["Landings, tonnes, 2019: 1,452; 2018: 1,146", "Ferries, 2019: 31"]
    assert headings(MARKDOWN) == ["| | 2019 | 2018 |"]


def test_cell_has_the_offset_of_its_column_name():
    row = Tables(MARKDOWN, "prose").row(
        MARKDOWN.index("| Ferries"), MARKDOWN.index("| Ferries") + len("| Ferries | 31 | |")
    )
    assert row is not None
    assert [MARKDOWN[at:].split("\n", maxsplit=1)[0] for at in row.cells[0].named_at] == ["2019 | 2018 |"]
    assert [MARKDOWN[slice(*cell.span)] for cell in row.cells] == ["31"]


def test_without_a_rule_all_lines_above_the_first_numbers_name_columns():
    assert rows(FILED) == [
        "Cash, 2019 $: 12.4; Years ended May 31, 2018 $: 9",
        "Total assets, 2019 $: 22.4; Years ended May 31, 2018 $: 19",
    ]


def test_rule_ends_the_header():
    text = "| Town | Mayor | Pots |\n|:--|:-:|--|\n| Dorn | Agnes Pohl | none |\n| Wend | Jakob Stern | 31 |\n"
    assert rows(text) == ["Dorn, Mayor: Agnes Pohl; Pots: none", "Wend, Mayor: Jakob Stern; Pots: 31"]


def test_line_with_only_a_label_is_a_heading():
    assert "Assets | |" in headings("Balance | 2019 | 2018\nCash | 12 | 9\nAssets | |\nLand | 3 | 2\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("town,mayor,since\nDorn,Agnes Pohl,1998\n", "Dorn, mayor: Agnes Pohl; since: 1998"),
        ("town;mayor\n\nDorn;Pohl, Agnes\n", "Dorn, mayor: Pohl, Agnes"),
        ('item,sold\n"Pots, large","1,204"\n', "Pots, large, sold: 1,204"),
        ("\t2019\t2018\nPots\t31\t29\n", "Pots, 2019: 31; 2018: 29"),
    ],
)
def test_first_line_of_separated_values_names_the_columns(text, said):
    assert rows(text, "table") == [said]


@pytest.mark.parametrize(
    "text",
    [
        "Gross margin | 8,574 | 8,173\nNet income | 2,206 | 3,044\n",
        "Name | Age\nAda | 36 | left over | cells\n",
        "Run `cat notes | sort` and read on.\n",
        "Name |\nAda |\n",
        "Dorn | Agnes Pohl | miller\nWend | Jakob Stern | brewer\n",
    ],
)
def test_no_rows_without_column_names(text):
    assert rows(text) == []


def test_first_line_like_the_rest_is_not_a_header():
    assert rows("Dorn,Agnes Pohl,miller\nWend,Jakob Stern,brewer\n", "table") == []
    assert rows("town,mayor,trade\nWend,Jakob Stern,brewer\n", "table") == ["Wend, mayor: Jakob Stern; trade: brewer"]


def test_empty_line_separates_tables():
    assert rows("a | b\nc | 1\n\nd | e\nf | 2\n") == ["c, b: 1", "f, e: 2"]


def test_overlong_lines_are_neither_rows_nor_headers():
    wide = "a | " * 300
    assert rows(f"{wide}\n{wide}\n") == []
    assert rows(f"{','.join(f'column {at}' for at in range(200))}\n{'1,' * 100}\n", "table") == []


def test_code_is_not_a_table():
    assert rows("a | b\nc | d\n", "lines") == []


def test_join_cells_keeps_numbers_apart():
    assert join_cells('Pots,31,204,"1,204"') == "Pots | 31 | 204 | 1,204"


H, R, P, N = BlockKind.TABLE_HEADER, BlockKind.ROW, BlockKind.PARAGRAPH, BlockKind.NOTE


def rows_of_blocks(*lines: tuple[BlockKind, str]) -> list[str]:
    """The rows of a document whose blocks are these lines."""
    text, blocks = "", []
    for kind, line in lines:
        blocks.append(Block(kind, len(text), len(text) + len(line)))
        text += f"{line}\n"
    tables = Tables(text, "prose", blocks)
    return [row.text for block in blocks if (row := tables.row(block.start, block.end))]


def test_blocks_tell_which_lines_are_headers_and_rows():
    """A known header may have numbers, and need not look different from the rows."""
    lines = [(H, "| Dorn | 12 |"), (R, "| Wend | 31 |"), (N, "a note"), (R, "| Holm | 29 |")]
    assert rows_of_blocks(*lines) == ["Wend, 12: 31", "Holm, 12: 29"]


def test_header_block_applies_until_the_next_header_or_the_end_of_the_table():
    first = [(H, "| town | pots |"), (H, "|  | large |"), (R, "| Wend | 31 |")]
    second = [(H, "| pier | depth |"), (R, "| north | 4 |"), (P, "Text."), (R, "| Alder | 900 |")]
    assert rows_of_blocks(*first, *second) == ["Wend, pots large: 31", "north, depth: 4"]


def test_header_of_row_blocks_without_one_is_guessed():
    assert rows_of_blocks((R, "| Pots | 2019 |"), (R, "| Dorn | 31 |")) == ["Dorn, 2019: 31"]
    assert rows_of_blocks((R, "| Dorn | Wend |")) == []


def test_bars_in_a_paragraph_are_no_table():
    assert rows_of_blocks((P, "| Pots | 2019 |"), (P, "| Dorn | 31 |")) == []


def test_notes_above_the_first_row_explain_columns():
    blocks = [Block(H, 0, 9), Block(N, 10, 19), Block(R, 20, 29), Block(N, 30, 39)]
    tables = Tables(" " * 40, "prose", blocks)
    assert [tables.is_column_note(at) for at in (5, 10, 15, 20, 30)] == [False, True, True, False, False]


def test_first_part_of_a_long_row_is_the_row():
    row = f"| Dorn | {'x ' * 400} | 31 |"
    text = f"| town | remark | pots |\n{row}\n"
    at = text.index("| Dorn")
    tables = Tables(text, "prose", [Block(H, 0, at - 1), Block(R, at, at + len(row))])
    found = tables.row(at, at + 480)
    assert found is not None
    assert [text[slice(*cell.span)].strip() for cell in found.cells] == [cell.value for cell in found.cells]
    assert tables.row(at + 480, at + len(row)) is None
    assert tables.row_start(at + 600) == at


LINES = st.lists(st.text(alphabet="|-,;\t 0123456789abc$%.\"'\n", max_size=30), max_size=12).map("\n".join)


@given(LINES, st.sampled_from(["prose", "table", "lines"]))
def test_row_text_comes_from_its_line_and_header(text, layout):
    tables = Tables(text, layout)
    for passage in split(text, layout):
        for sentence in passage.sentences:
            row = tables.row(sentence.start, sentence.end)
            tables.is_heading(sentence.start, sentence.end)
            if row:
                named = [text[at:].split("\n")[0] for cell in row.cells for at in cell.named_at]
                known = text[sentence.start : sentence.end] + "".join(named)
                assert set(row.text) - set(known) <= set(" ,:;")
                assert all(cell.value for cell in row.cells)
