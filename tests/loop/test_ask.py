from marchwarden import ask
from tests.investigating import QUESTION, an_investigator


def test_ask_works_without_an_event_loop(tmp_path):
    assert "1931" in ask(an_investigator(tmp_path), QUESTION).answer


async def test_ask_works_inside_a_running_event_loop(tmp_path):
    assert "1931" in ask(an_investigator(tmp_path), QUESTION).answer
