from marchwarden.researchers.arxiv.sections import find_sections

TEXT = """Abstract

We measure.

1 Introduction

In 1931 it opened.

2 Methods

17 sensors
3.5 metres

2.1 Gusts

Text with 2 Methods in it.

3 Results

2 Methods

Appendix B Tables

References
"""


def test_sections_get_the_names_arxiv_uses() -> None:
    marks = find_sections(TEXT)
    assert [mark.fragment for mark in marks] == ["abstract", "S1", "S2", "S2.SS1", "S3", "A2", "bib"]
    assert [TEXT[mark.start :].partition("\n")[0] for mark in marks][1:4] == [
        "1 Introduction",
        "2 Methods",
        "2.1 Gusts",
    ]


def test_a_text_without_headings_has_no_sections() -> None:
    assert find_sections("One sentence.\n\nAnother one, of 2 parts.") == ()
