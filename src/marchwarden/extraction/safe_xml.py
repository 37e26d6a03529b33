"""Parse XML from untrusted documents: entities are not expanded, and nothing outside is loaded."""

from collections.abc import Iterator
from io import BytesIO
from typing import Final

import lxml.etree

from marchwarden.extraction.document import Unreadable

_OPTIONS: Final = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}


def parse_xml(content: bytes, document: str) -> lxml.etree._Element:
    """Parse a part of a document. `document` names its kind in the error: `an EPUB`."""
    try:
        return lxml.etree.fromstring(content, lxml.etree.XMLParser(**_OPTIONS))
    except (lxml.etree.LxmlError, ValueError) as error:
        raise Unreadable(_damaged(document)) from error


def iter_xml(content: bytes, document: str, *names: str) -> Iterator[lxml.etree._Element]:
    """Yield the elements with these local names at their ends. Each is cleared when the next one is requested.

    For parts with many elements, whose tree would need too much memory.
    """
    tags = [f"{{*}}{name}" for name in names]
    try:
        for _, element in lxml.etree.iterparse(BytesIO(content), events=("end",), tag=tags, **_OPTIONS):
            yield element
            element.clear()
            parent = element.getparent()
            while parent is not None and element.getprevious() is not None:
                del parent[0]
    except (lxml.etree.LxmlError, ValueError) as error:
        raise Unreadable(_damaged(document)) from error


def local_name(element: lxml.etree._Element) -> str:
    """Return the name of an element without its namespace. Comments, entities and instructions have none."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: lxml.etree._Element, name: str) -> str:
    """Return an attribute by its local name: `val` of `w:val`. Empty if there is none."""
    found = element.get(name)
    if found is not None:
        return str(found)
    return next((str(value) for key, value in element.items() if key.rpartition("}")[2] == name), "")


def _damaged(document: str) -> str:
    article, _, kind = document.partition(" ")
    return f"a damaged {kind}" if article in {"a", "an"} else f"damaged {document}"
