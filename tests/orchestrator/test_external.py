"""Third-party researchers: configured in TOML, listed with their status, asked like built-in ones."""

import shutil
from pathlib import Path

import pytest

from marchwarden.audit.verify import verify
from marchwarden.errors import InvalidInput
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.orchestrator.external import ExternalRegistry, check_health
from marchwarden.orchestrator.pi import PrincipalInvestigator
from marchwarden.orchestrator.roster import Member, Roster
from marchwarden.storage.store import Store
from tests.investigating import QUESTION, an_investigator
from tests.world.memory import BRIDGE, MemorySource

SERVER = Path(__file__).with_name("library.mjs")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def a_registry(folder: Path, mode: str) -> ExternalRegistry:
    path = folder / "researchers.toml"
    path.write_text(
        f"[library]\npurpose = 'Answers from a catalogue.'\ncommand = ['node', '{SERVER}']\nenv = ['LIBRARY_MODE']\n"
    )
    return ExternalRegistry.load(path, {"LIBRARY_MODE": mode})


def a_pi(folder: Path, registry: ExternalRegistry) -> PrincipalInvestigator:
    one_note = an_investigator(folder, source=MemorySource([BRIDGE]))  # one source alone settles nothing
    shelf = Member("shelf", "Our own notes.", one_note, given=True)
    roster = Roster([shelf, *(registry.member(name) for name in registry.entries)])
    return PrincipalInvestigator(roster, ExtractiveMind(), store=Store(folder), fallback=ExtractiveMind())


@needs_node
async def test_a_researcher_in_another_language_is_used_like_a_built_in_one(tmp_path):
    result = await a_pi(tmp_path, a_registry(tmp_path, "well")).research(QUESTION)
    found = {citation.locator: citation.researcher for citation in result.citations}
    assert found["shelf:12/7"] == "library"
    assert [each.researcher for each in result.dispatches] == ["shelf", "library"]
    assert all(check.proved for check in verify(Store(tmp_path), result.trace_id))


@needs_node
@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("dead", "returned no answer"),
        ("strange", "violates the contract"),
        ("newer", "contract v9"),
        ("", "LIBRARY_MODE"),
    ],
)
async def test_a_failing_external_researcher_becomes_a_gap(tmp_path, mode, message):
    result = await a_pi(tmp_path, a_registry(tmp_path, mode)).research(QUESTION)
    (gap,) = [gap for gap in result.gaps if gap.topic == "library"]
    assert message in gap.detail
    assert {citation.researcher for citation in result.citations} == {"shelf"}
    assert all(check.proved for check in verify(Store(tmp_path), result.trace_id))


@needs_node
async def test_health_reports_reachable_and_unreachable_researchers(tmp_path):
    (well,) = await check_health(a_registry(tmp_path, "well"))
    assert (well.well, well.contract, well.purpose) == (True, "v1", "Answers from a catalogue.")
    (newer,) = await check_health(a_registry(tmp_path, "newer"))
    assert not newer.well
    assert "contract v9" in newer.state


async def test_a_missing_command_is_reported_as_down(tmp_path):
    path = tmp_path / "researchers.toml"
    path.write_text("[ghost]\ncommand = ['no-such-command-anywhere']\n")
    (ghost,) = await check_health(ExternalRegistry.load(path, {}))
    assert not ghost.well


def test_a_missing_file_has_no_entries(tmp_path):
    assert ExternalRegistry.load(tmp_path / "none.toml", {}).entries == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "is not valid TOML"),
        ("[a]\npurpose = 'x'\n", "either a command or a url"),
        ("[a]\ncommand = ['x']\nurl = 'http://x'\n", "either a command or a url"),
        ("[a]\ncommand = 'x'\n", "a.command"),
        ("[a]\nurl = 'http://x'\nkey = 'secret'\n", "a.key"),
    ],
)
def test_an_invalid_file_is_rejected_with_the_position(tmp_path, text, message):
    path = tmp_path / "researchers.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=r"researchers\.toml") as refused:
        ExternalRegistry.load(path, {})
    assert message in str(refused.value)
