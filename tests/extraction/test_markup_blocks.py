"""Markdown and reStructuredText as blocks: spans of the unchanged text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.core.blocks import check_blocks
from marchwarden.core.passages import split
from marchwarden.extraction import extract, markdown_blocks, rst_blocks

MARKDOWN = """---
title: Sails
---
# Sails

Sails are *white*.
They pull.

- one
  more

  second paragraph
- two

1. first
   - nested

| Rope | Length |
|------|--------|
| sheet | 3 m |

```sh
sail up
```

    indented

> [!NOTE]
> Mind the boom.

sheet
: A rope.

!!! tip
    Use gloves.

Ropes
-----

<p align="center"><img src="x.png"></p>

[ref]: http://example.org
"""
RST = """=====
Sails
=====

.. toctree::

   other

Sails are *white*.
They pull::

    sail up
      --fast

.. note:: Mind the boom.

   And the mast.

.. _target:

- one
  more
- two

sail_area
    The area of the sail.

    Default: ``12``

.. function:: hoist(sail)
              hoist(sail, slowly)
   :module: ferry

   Hoists it.

   :param sail: the sail

Ropes
-----

.. code-block:: sh
   :caption: x

   rope tie

==== ======
Rope Length
==== ======
hemp 3 m
==== ======

::

    alone

.. a comment
   with text
"""


def _texts(text: str, find: object) -> list[tuple[str, str, int]]:
    assert callable(find)
    return [(block.kind.value, text[block.start : block.end], block.level) for block in find(text)]


def test_markdown() -> None:
    assert _texts(MARKDOWN, markdown_blocks.find_blocks) == [
        ("heading", "# Sails", 1),
        ("paragraph", "Sails are *white*.\nThey pull.", 0),
        ("item", "- one\n  more", 0),
        ("paragraph", "second paragraph", 1),
        ("item", "- two", 0),
        ("item", "1. first", 0),
        ("item", "- nested", 1),
        ("table_header", "| Rope | Length |", 0),
        ("row", "| sheet | 3 m |", 0),
        ("code", "sail up", 0),
        ("code", "    indented", 0),
        ("note", "Mind the boom.", 0),
        ("term", "sheet", 0),
        ("description", "A rope.", 0),
        ("note", "Use gloves.", 0),
        ("heading", "Ropes", 2),
    ]


def test_restructured_text() -> None:
    assert _texts(RST, rst_blocks.find_blocks) == [
        ("heading", "Sails", 1),
        ("paragraph", "Sails are *white*.\nThey pull::", 0),
        ("code", "sail up\n      --fast", 0),
        ("note", "Mind the boom.", 0),
        ("note", "And the mast.", 0),
        ("item", "- one\n  more", 0),
        ("item", "- two", 0),
        ("term", "sail_area", 0),
        ("description", "The area of the sail.", 0),
        ("description", "Default: ``12``", 0),
        ("term", "hoist(sail)", 0),
        ("term", "hoist(sail, slowly)", 0),
        ("description", "Hoists it.", 0),
        ("item", ":param sail: the sail", 1),
        ("heading", "Ropes", 2),
        ("code", "rope tie", 0),
        ("row", "Rope Length", 0),
        ("row", "hemp 3 m", 0),
        ("code", "alone", 0),
    ]


def test_terms_that_share_a_description_are_one_step_of_the_path() -> None:
    extracted = extract(RST.encode(), "sails.rst")
    paths = [passage.path for passage in split(extracted.text, extracted.layout, extracted.blocks)]
    assert ("Sails", "hoist(sail), hoist(sail, slowly)") in paths
    assert ("Sails", "sail_area") in paths


def test_sphinx_source_is_read_as_restructured_text() -> None:
    assert extract(RST.encode(), "_sources/sails.rst.txt").title == "Sails"


@pytest.mark.parametrize("name", ["a.md", "a.rst"])
@given(st.text("ab1 \n\t#*-`>|:.=~!'\"[]<>{}\\_é", max_size=200))
def test_any_text_yields_blocks_in_order(name: str, text: str) -> None:
    find = markdown_blocks.find_blocks if name.endswith("md") else rst_blocks.find_blocks
    blocks = find(text)
    check_blocks(blocks)
    assert all(text[block.start : block.end].strip() for block in blocks)
    assert all(block.end <= len(text) for block in blocks)
