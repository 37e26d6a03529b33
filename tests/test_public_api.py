"""The names that `marchwarden` exports. Changing this list changes the public API."""

import subprocess
import sys
from typing import get_type_hints

import pytest

import marchwarden
from marchwarden import ResearchResult, ask

EXPORTED = """
    ArxivResearcher DatabaseResearcher ExtractiveMind FilesResearcher InvalidInput Member Mind PrincipalInvestigator
    Progress RemoteResearcher ResearchConstraints ResearchResult Researcher ResearcherSpec Roster Source Store
    WebResearcher ask select_mind set_up_logging verify
"""


def test_exported_members():
    assert sorted(marchwarden.__all__) == sorted(EXPORTED.split()) == sorted(dir(marchwarden))


@pytest.mark.parametrize("name", EXPORTED.split())
def test_every_exported_name_is_what_it_says(name: str):
    found = getattr(marchwarden, name)
    assert callable(found)
    assert found.__module__.startswith("marchwarden.")


def test_unknown_names_raise_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = marchwarden.nothing


def test_importing_the_package_imports_nothing_else():
    code = "import sys, marchwarden; print([each for each in sys.modules if each.startswith('marchwarden.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_types_are_exported_as_well():
    assert get_type_hints(ask)["return"] is ResearchResult
