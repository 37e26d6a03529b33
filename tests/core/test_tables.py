import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.core.passages import Layout, split
from marchwarden.core.tables import Tables, join_cells

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


def test_a_row_is_read_with_the_names_of_its_columns_and_without_its_empty_cells():
    assert rows(MARKDOWN) == ["Landings, tonnes, 2019: 1,452; 2018: 1,146", "Ferries, 2019: 31"]
    assert headings(MARKDOWN) == ["| | 2019 | 2018 |"]


def test_a_cell_says_where_its_column_is_named():
    row = Tables(MARKDOWN, "prose").row(
        MARKDOWN.index("| Ferries"), MARKDOWN.index("| Ferries") + len("| Ferries | 31 | |")
    )
    assert row is not None
    assert [MARKDOWN[at:].split("\n", maxsplit=1)[0] for at in row.cells[0].named_at] == ["| | 2019 | 2018 |"]


def test_without_a_rule_the_columns_are_named_by_all_lines_above_the_first_figures():
    assert rows(FILED) == [
        "Cash, 2019 $: 12.4; Years ended May 31, 2018 $: 9",
        "Total assets, 2019 $: 22.4; Years ended May 31, 2018 $: 19",
    ]


def test_a_rule_says_where_the_names_end_whatever_stands_below_it():
    text = "| Town | Mayor | Pots |\n|:--|:-:|--|\n| Dorn | Agnes Pohl | none |\n| Wend | Jakob Stern | 31 |\n"
    assert rows(text) == ["Dorn, Mayor: Agnes Pohl; Pots: none", "Wend, Mayor: Jakob Stern; Pots: 31"]


def test_a_line_with_nothing_but_a_label_is_a_heading_and_no_row():
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
def test_separated_values_are_read_by_their_first_line(text, said):
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
def test_where_no_line_names_the_columns_there_is_no_row(text):
    assert rows(text) == []


def test_a_first_line_written_like_the_rest_names_no_columns():
    assert rows("Dorn,Agnes Pohl,miller\nWend,Jakob Stern,brewer\n", "table") == []
    assert rows("town,mayor,trade\nWend,Jakob Stern,brewer\n", "table") == ["Wend, mayor: Jakob Stern; trade: brewer"]


def test_tables_that_an_empty_line_parts_are_two():
    assert rows("a | b\nc | 1\n\nd | e\nf | 2\n") == ["c, b: 1", "f, e: 2"]


def test_lines_too_long_to_be_told_are_no_rows_and_name_nothing():
    wide = "a | " * 300
    assert rows(f"{wide}\n{wide}\n") == []
    assert rows(f"{','.join(f'column {at}' for at in range(200))}\n{'1,' * 100}\n", "table") == []


def test_code_is_no_table():
    assert rows("a | b\nc | d\n", "lines") == []


def test_bars_keep_the_numbers_of_a_line_apart():
    assert join_cells('Pots,31,204,"1,204"') == "Pots | 31 | 204 | 1,204"


LINES = st.lists(st.text(alphabet="|-,;\t 0123456789abc$%.\"'\n", max_size=30), max_size=12).map("\n".join)


@given(LINES, st.sampled_from(["prose", "table", "lines"]))
def test_a_row_says_nothing_that_its_line_and_its_header_do_not(text, layout):
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
