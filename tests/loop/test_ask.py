from marchwarden import ask
from tests.investigating import QUESTION, an_investigator


def test_the_synchronous_door_answers_at_a_prompt(tmp_path):
    assert "1931" in ask(an_investigator(tmp_path), QUESTION).answer


async def test_and_inside_a_running_event_loop(tmp_path):
    assert "1931" in ask(an_investigator(tmp_path), QUESTION).answer
