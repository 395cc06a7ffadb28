"""The transcript: what is sent of a conversation grows about linearly with its turns."""

from predibot.agents.loop.transcript import MAX_OLD_WORDS, Transcript, cut
from predibot.domain.chat import Message, ToolCall


def conversation(turns: int, *, page: str = "p" * 10_000, words: str = "I read on.") -> Transcript:
    talk = Transcript()
    talk.tell("the task")
    for turn in range(turns):
        talk.said(words, (ToolCall(f"c{turn}", "visit_webpage", '{"url": "u"}'),))
        talk.returned(f"c{turn}", page, gist="(read)")
    return talk


def size(messages: tuple[Message, ...]) -> int:
    return sum(len(message.text) + sum(len(call.arguments_json) for call in message.tool_calls) for message in messages)


def sent_in_all(turns: int, *, words: str = "I read on.") -> int:
    return sum(size(conversation(turn, words=words).sent("the board")) for turn in range(turns + 1))


def test_the_latest_turn_is_sent_whole_and_earlier_ones_as_gists() -> None:
    texts = [message.text for message in conversation(3).sent() if message.role == "tool"]
    assert texts == ["(read)", "(read)", "p" * 10_000]


def test_all_results_of_one_turn_are_whole_together() -> None:
    talk = conversation(1)
    talk.said("", (ToolCall("a", "web_search", "{}"), ToolCall("b", "web_search", "{}")))
    talk.returned("a", "A" * 900, gist="a")
    talk.returned("b", "B" * 900, gist="b")
    assert [len(message.text) for message in talk.sent() if message.role == "tool"] == [6, 900, 900]


def test_nothing_is_whole_where_the_budget_is_tight() -> None:
    assert size(conversation(3).sent(whole=False)) < 200


def test_the_task_and_the_board_are_always_whole() -> None:
    messages = conversation(5).sent("the board")
    assert messages[0] == Message("user", "the task")
    assert messages[-1] == Message("user", "the board")


def test_what_is_sent_in_all_grows_about_linearly() -> None:
    assert sent_in_all(40) < 2.3 * sent_in_all(20)


def test_a_wordy_model_does_not_make_it_grow_with_the_square_either() -> None:
    growth = [sent_in_all(turns, words="w" * 3000) for turns in (20, 40, 80)]
    assert growth[2] - growth[1] < 2.5 * (growth[1] - growth[0])


def test_the_latest_words_of_the_model_are_kept_first() -> None:
    talk = conversation(3, words="w" * MAX_OLD_WORDS)
    lengths = [len(message.text) for message in talk.sent() if message.role == "assistant"]
    assert lengths[1:] == [MAX_OLD_WORDS, MAX_OLD_WORDS]
    assert lengths[0] < 30


def test_long_arguments_of_earlier_calls_are_left_out_whole_because_half_of_them_is_no_json() -> None:
    talk = Transcript()
    talk.said("", (ToolCall("a", "final_answer", '{"x": "' + "y" * 5000 + '"}'),))
    talk.returned("a", "error: fix", gist="error: fix")
    talk.said("next")
    assert talk.sent()[0].tool_calls[0].arguments_json == "{}"


def test_every_result_answers_a_call_that_is_sent_with_it() -> None:
    messages = conversation(4).sent()
    calls = {call.id for message in messages for call in message.tool_calls}
    assert {message.tool_call_id for message in messages if message.role == "tool"} == calls


def test_an_empty_message_is_never_sent() -> None:
    talk = Transcript()
    talk.said("")
    assert talk.sent()[0].text == "(no text)"


def test_a_text_that_would_not_get_shorter_is_not_cut() -> None:
    assert cut("x" * 12, 10) == "x" * 12
    assert cut("x" * 100, 10) == "x" * 10 + "… (shortened)"
