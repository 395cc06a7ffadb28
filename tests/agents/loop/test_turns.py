"""Turns: what is sent of a conversation grows about linearly with its turns."""

from predibot.agents.loop.evidence import ToolAnswer
from predibot.agents.loop.turns import MAX_OLD_WORDS, ModelTurn, cut, messages_of
from predibot.domain.chat import Message, ToolCall


def conversation(turns: int, *, page: str = "p" * 10_000, words: str = "I read on.") -> list[ModelTurn]:
    read = ToolAnswer(page, "text", "(read)", page)
    calls = [(ToolCall(f"c{turn}", "visit_webpage", '{"url": "u"}'),) for turn in range(turns)]
    return [ModelTurn(Message("assistant", words, made), results=[read]) for made in calls]


def sent(turns: list[ModelTurn], board: str = "", *, whole: bool = True) -> tuple[Message, ...]:
    return messages_of("the task", turns, board, whole=whole)


def size(messages: tuple[Message, ...]) -> int:
    return sum(len(message.text) + sum(len(call.arguments_json) for call in message.tool_calls) for message in messages)


def sent_in_all(turns: int, *, words: str = "I read on.") -> int:
    return sum(size(sent(conversation(turn, words=words), "the board")) for turn in range(turns + 1))


def test_the_latest_turn_is_sent_whole_and_earlier_ones_as_gists() -> None:
    messages = sent(conversation(3), "the board")
    results = [message for message in messages if message.role == "tool"]
    assert [message.text for message in results] == ["(read)", "(read)", "p" * 10_000]
    assert (messages[0], messages[-1]) == (Message("user", "the task"), Message("user", "the board"))
    assert [message.tool_call_id for message in results] == [
        call.id for message in messages for call in message.tool_calls
    ]
    # Nothing is whole where the budget is tight.
    assert size(sent(conversation(3), whole=False)) < 200


def test_all_results_of_one_turn_are_whole_together() -> None:
    calls = (ToolCall("a", "web_search", "{}"), ToolCall("b", "web_search", "{}"))
    results = [ToolAnswer(letter * 900, "text", letter, letter * 900) for letter in "AB"]
    turns = [*conversation(1), ModelTurn(Message("assistant", "", calls), results=results)]
    assert [len(message.text) for message in sent(turns) if message.role == "tool"] == [6, 900, 900]


def test_what_is_sent_in_all_grows_about_linearly_also_of_a_wordy_model() -> None:
    assert sent_in_all(40) < 2.3 * sent_in_all(20)
    growth = [sent_in_all(turns, words="w" * 3000) for turns in (20, 40, 80)]
    assert growth[2] - growth[1] < 2.5 * (growth[1] - growth[0])


def test_the_latest_words_of_the_model_are_kept_first() -> None:
    turns = conversation(3, words="w" * MAX_OLD_WORDS)
    lengths = [len(message.text) for message in sent(turns) if message.role == "assistant"]
    assert lengths[1:] == [MAX_OLD_WORDS, MAX_OLD_WORDS]
    assert lengths[0] < 30


def test_long_arguments_of_earlier_calls_are_left_out_whole_because_half_of_them_is_no_json() -> None:
    call = ToolCall("a", "final_answer", '{"x": "' + "y" * 5000 + '"}')
    turns = [ModelTurn(Message("assistant", "", (call,)), results=[ToolAnswer.refusal("fix")]), *conversation(1)]
    assert sent(turns)[1].tool_calls[0].arguments_json == "{}"


def test_an_empty_message_is_never_sent() -> None:
    turn = ModelTurn(Message("assistant"), complaint="call a tool")
    assert [message.text for message in sent([turn])] == ["the task", "(no text)", "call a tool"]


def test_a_text_that_would_not_get_shorter_is_not_cut() -> None:
    assert cut("x" * 12, 10) == "x" * 12
    assert cut("x" * 100, 10) == "x" * 10 + "… (shortened)"
