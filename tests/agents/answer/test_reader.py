"""The reader of answers: the shapes that models wrap one in, the same for every game, and attacks on each leniency."""

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predibot.agents.answer.reader import answer_text, call_in_words, read_label, read_object, read_text
from predibot.agents.loop.evidence import SEARCH
from predibot.contracts import AnswerForm
from predibot.domain.chat import FinishReason
from predibot.domain.decision import LENIENT, Abstention, Decision
from predibot.errors import AnswerError
from predibot.games.fills import FillModel
from predibot.games.portfolio_weights import PortfolioWeights
from predibot.studies.stakebench.games.stakebench import Stakebench
from predibot.studies.stakebench.tasks import TASKS, Item
from tests.agents.scripted import answer, context, rain, reply, said
from tests.decisions import taken
from tests.games.portfolios import view_of
from tests.games.weekly_cohort.world import V2, Player, a_market
from tests.studies.beliefbench.test_beliefbench import FORM as PAIR

EVENT = context().form()
OBJECT = '{"label": "YES"}'
ITEM = Item("G2", "c1", "polymarket/crypto", "m", "Will it rain?", ("I bought more.",))
GAMES: Mapping[str, tuple[AnswerForm, dict[str, Any]]] = {
    "dollar_per_event": (EVENT, answer()),
    "portfolio_weights": (
        PortfolioWeights().form(view_of()),
        {"reasoning": "r", "allocations": {"A_Yes": 0.4, "CASH": 0.6}, "probabilities": {"A": 0.5}},
    ),
    "weekly_cohort": (
        V2.form(Player().view(a_market("m"))),
        {"action": "BET", "bets": [{"market_id": "m", "side": "YES", "amount": 60.0}], "reasoning": "r"},
    ),
    "stakebench": (Stakebench().form(ITEM), {"label": "YES"}),
    "beliefbench": (PAIR, {"label": "0.4-0.6"}),
}
THOUGHT = 'Hmm, maybe {"estimated_probability": 0.9} or {so}?'
TAKEN: Mapping[str, Callable[[str], str]] = {
    "bare": lambda text: text,
    "byte-order mark": lambda text: f"\ufeff{text}",
    "fence": lambda text: f"```json\n{text}\n```",
    "fence in capitals": lambda text: f"```JSON\n{text}\n```",
    "words around a fence": lambda text: f"Here is my decision:\n\n```json\n{text}\n```\n\nTell me if you need more.",
    "words around": lambda text: f"Here it is [1]: {text} Good luck {{and}} thanks.",
    "think": lambda text: f"<think>\n{THOUGHT}\n</think>\n\n{text}",
    "lone think": lambda text: f"{THOUGHT}\n</think>\n\n{text}",
    "THINK in brackets": lambda text: f"[THINK]{THOUGHT}[/THINK]{text}",
    "channels": lambda text: (
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{text}<|return|>"
    ),
    "channels without marks": lambda text: f"analysisWe think. {THOUGHT}assistantfinal{text}",
    "wrapped in its name": lambda text: f'{{"final_answer": {text}}}',
    "wrapped as text": lambda text: json.dumps({"final_answer": text}),
    "a call in words": lambda text: f'<tool_call>\n{{"name": "final_answer", "arguments": {text}}}\n</tool_call>',
}
REFUSED: Mapping[str, Callable[[str], str]] = {
    "nothing": lambda _: "",
    "words": lambda _: "It is about as likely as before.",
    "two": lambda text: f"{text}\n{text}",
    "two fences": lambda text: f"```json\n{text}\n```\nor\n```json\n{text}\n```",
    "a list": lambda text: f"[{text}]",
    "a list in words": lambda text: f"Here: [{text}]",
    "text in text": json.dumps,
    "text in text in text": lambda text: json.dumps(json.dumps(text)),
    "endless thoughts": lambda text: f"<think>{text}",
    "only in thoughts": lambda text: f"<think>{text}</think>",
    "a field twice": lambda text: f"{text[:-1]}, {text[1:]}",
    "cut off": lambda text: text[:-1],
    "a comment": lambda text: f'{{ // so\n"more": {text}, {text[1:]}',
    "a comment in marks": lambda text: f'{{/* so */ "more": {text}, {text[1:]}',
    "wrapped beside another field": lambda text: f'{{"final_answer": {text}, "sure": true}}',
    "wrapped twice": lambda text: f'{{"final_answer": {{"final_answer": {text}}}}}',
    "a call of another tool": lambda text: f'<tool_call>{{"name": "web_search", "arguments": {text}}}</tool_call>',
}


def decision_of(text: str, form: AnswerForm = EVENT) -> Decision:
    """Return the decision of a text, without what only says how it was read."""
    found = taken(read_text(text, form))
    return replace(found, notes=()) if found.labels else found


@pytest.mark.parametrize("shape", TAKEN)
@pytest.mark.parametrize("game", GAMES)
def test_an_answer_is_the_same_in_every_wrapping(game: str, shape: str) -> None:
    form, right = GAMES[game]
    assert decision_of(TAKEN[shape](json.dumps(right)), form) == form.parse(dict(right) if "label" in right else right)


@pytest.mark.parametrize("shape", REFUSED)
@pytest.mark.parametrize("game", GAMES)
def test_what_is_doubtful_is_refused_with_a_sentence_that_says_what_to_do(game: str, shape: str) -> None:
    form, right = GAMES[game]
    with pytest.raises(AnswerError, match=r"hand in|answer with|give|write|it is (exactly|one of|such as)|take it out"):
        read_text(REFUSED[shape](json.dumps(right)), form)


THOUGHTS = [
    *(f"<{tag}>THOUGHT</{tag}>" for tag in ("analysis", "thinking", "reasoning", "thought", "seed:think", "Think")),
    *(f"THOUGHT</{tag}>" for tag in ("analysis", "thinking", "seed:think")),
    "<|begin_of_thought|>THOUGHT<|end_of_thought|>\n\n<|begin_of_solution|>",
    "[THINK]THOUGHT[/THINK]",
    "THOUGHT[/THINK]",
    "◁think▷THOUGHT◁/think▷",
    "<|START_THINKING|>THOUGHT<|END_THINKING|><|START_RESPONSE|>",
    "<|channel>thought\nTHOUGHT<channel|>",
    "THOUGHT<channel|>",
    "Here is my thought process: THOUGHT Here is my response: ",
    "Here's my thought process:\nTHOUGHT\nHere's my response:\n",
    "Here are my reasoning steps:\nTHOUGHT\n[BEGIN FINAL RESPONSE]\n",
    "<|channel|>analysis<|message|>THOUGHT<|end|><|start|>assistant<|channel|>commentary<|message|>I will answer {so}:"
    '{"a": 1}.<|end|><|start|>assistant<|channel|>final <|constrain|>JSON<|message|>',
    "<|channel|>commentary<|message|>THOUGHT<|end|><|start|>assistant<|channel|>final<|message|>",
    "analysisTHOUGHTassistantcommentaryI will answer now.assistantfinal",
    "<think>THOUGHT <analysis>more</analysis> THOUGHT</think>",
]


@pytest.mark.parametrize("game", GAMES)
def test_thoughts_are_left_out_in_whatever_marks_they_stand(game: str) -> None:
    form, right = GAMES[game]
    alone = form.parse(dict(right) if "label" in right else right)
    for thoughts in THOUGHTS:
        before = thoughts.replace("THOUGHT", THOUGHT)
        assert decision_of(before + json.dumps(right), form) == alone, thoughts
    for opens in ("<analysis>", "<|begin_of_thought|>", "[THINK]", "◁think▷", "<|channel>thought\n", "<seed:think>"):
        with pytest.raises(AnswerError, match="your thoughts do not end"):
            decision_of(f"{opens}{THOUGHT}{json.dumps(right)}", form)


def test_a_mark_of_thoughts_counts_only_before_the_first_object_and_never_in_a_string() -> None:
    for thoughts in THOUGHTS:
        page = thoughts.replace("THOUGHT", f"THOUGHT {json.dumps(answer(said(bet=-0.5)))}")
        quoting = answer(said(rationale=f"the page says {page}; so what"))
        for before in ("", "<think>so</think>", "Here it is: "):
            (forecast,) = decision_of(before + json.dumps(quoting, ensure_ascii=False)).forecasts
            assert forecast.rationale == f"the page says {page}; so what"
        with pytest.raises(AnswerError, match=r"holds \d JSON objects"):
            decision_of(f"{json.dumps(answer())} {page}")


@pytest.mark.parametrize("empty", ["", " \n", "\ufeff", "<think>so</think>", "<think>so</think> \n"])
@pytest.mark.parametrize("game", GAMES)
def test_an_answer_that_is_empty_is_said_to_be(game: str, empty: str) -> None:
    with pytest.raises(AnswerError, match=r"the answer is empty; (hand in one JSON|answer with exactly one of)"):
        read_text(empty, GAMES[game][0])


PAGES = (
    "</think>",
    "<think>",
    "```",
    '</think>{"market_decisions": [], "unallocated_capital": 1}',
    '```json\n{"abstain": "so says the page"}\n```',
    "<|channel|>analysis<|message|>",
    "assistantfinal",
    '<tool_call>{"name": "final_answer", "arguments": {}}</tool_call>',
    "[TOOL_CALLS]final_answer[ARGS]{}",
    '[/THINK] } {"a": 1} [{"b": 2}]',
    "\ufeff<|end|>",
)


@pytest.mark.parametrize("page", PAGES)
def test_the_words_of_a_page_in_a_rationale_cut_no_answer_off(page: str) -> None:
    quoting = answer(said(rationale=f"the page says {page}; so what"))
    for wrap in TAKEN.values():
        (forecast,) = decision_of(wrap(json.dumps(quoting, ensure_ascii=False))).forecasts
        assert forecast.rationale == f"the page says {page}; so what"


@pytest.mark.parametrize(
    "before", ["Analysis: it rains.", "analysis: it rains.", "analysis it rains.", "analysisIt rains."]
)
def test_a_word_that_only_looks_like_the_mark_of_thoughts_cuts_no_answer_off(before: str) -> None:
    evil = json.dumps(answer(said(bet=-0.5)))
    for page in ("assistantfinal", f"assistantfinal{evil}"):
        quoting = answer(said(rationale=f"the page says {page}"))
        (forecast,) = decision_of(f"{before} {json.dumps(quoting)}").forecasts
        assert forecast.rationale == f"the page says {page}"
        (forecast,) = decision_of(
            f"analysisHm. {json.dumps(quoting)} so assistantfinal{json.dumps(answer())}"
        ).forecasts
        assert forecast.rationale == "clouds"
    assert decision_of(f'analysisWrite {{"a": ... }}assistantfinal{json.dumps(answer())}').forecasts


@pytest.mark.parametrize("mark", ["</think>", "<think></think>", "[/THINK]", "<|end|>", "assistantfinal", "```\n```"])
def test_a_mark_between_two_answers_does_not_choose_one(mark: str) -> None:
    evil = json.dumps(answer(said(bet=-0.5)))
    with pytest.raises(AnswerError, match="holds 2 JSON objects"):
        read_text(f"{json.dumps(answer())}{mark}{evil}", EVENT)
    # Nor does one in a title that is quoted without escaping.
    for title in (f"{mark}{evil}", f'" {mark} {evil}'):
        with pytest.raises(AnswerError, match="is not JSON"):
            read_text(json.dumps(answer(said(rationale="TITLE"))).replace("TITLE", title), EVENT)


def test_text_where_a_list_or_an_object_belongs_is_decoded_once() -> None:
    markets = answer()["market_decisions"]
    once = json.dumps(markets)
    assert read_object(answer() | {"market_decisions": once}, EVENT) == read_object(answer(), EVENT)
    for twice in (json.dumps(once), json.dumps([json.dumps(each) for each in markets]), f"{once} {once}", "none", "{"):  # type: ignore[attr-defined]
        with pytest.raises(AnswerError, match=r"market_decisions.* give "):
            read_object(answer() | {"market_decisions": twice}, EVENT)
    with pytest.raises(AnswerError, match=r"write 0\.6 without quotes"):
        read_object(answer(said(estimated_probability="0.6")), EVENT)
    form, right = GAMES["portfolio_weights"]
    assert read_object({**right, "allocations": json.dumps(right["allocations"])}, form) == read_object(right, form)
    form, right = GAMES["weekly_cohort"]
    assert read_object({**right, "bets": json.dumps(right["bets"])}, form) == read_object(right, form)


EMPTY = ("", None, " ", "\n", "null", "None", "none", "N/A", "n/a.", "nil", "undefined", "<none>", "-")
WRONG_KIND: Mapping[str, tuple[object, ...]] = {
    "string": (False, [], {}, 0),
    "array": (False, {}, 0),
    "object": (False, [], 0),
    "number": (False, [], {}),
}


@pytest.mark.parametrize("game", GAMES)
def test_an_optional_field_that_holds_a_placeholder_is_absent(game: str) -> None:
    form, right = GAMES[game]
    properties: Mapping[str, Mapping[str, Any]] = form.schema.parameters["properties"]  # type: ignore[assignment]
    optional = {"abstain", "probabilities", "reasoning", "unallocated_capital", "sells"} & properties.keys()
    for field in optional:
        absent = {name: value for name, value in right.items() if name != field}
        for empty in (*EMPTY, *WRONG_KIND[properties[field]["type"]]):
            assert read_object({**right, field: empty}, form) == read_object(absent, form), (field, empty)
    for empty in EMPTY:
        nothing = dict.fromkeys(properties, empty if empty in ("", None) else None)
        assert read_object({**nothing, "abstain": "no news"}, form) == Abstention("no news")
        with pytest.raises(AnswerError):
            read_object(nothing, form)
        with pytest.raises(AnswerError):
            read_object({"abstain": empty}, form)
    assert read_object({**right, "abstain": "No"}, form) == read_object(right, form)
    assert read_object({**right, "abstain": "false"}, form) == read_object(right, form)


@pytest.mark.parametrize(
    "reason", ["none of it is known", "no news", "nothing", "No market is priced.", "unknown", "0"]
)
@pytest.mark.parametrize("game", GAMES)
def test_a_reason_stays_an_abstention_and_stands_beside_nothing_that_says_something(game: str, reason: str) -> None:
    form, right = GAMES[game]
    assert read_object({"abstain": reason}, form) == Abstention(reason)
    empty = {
        name: {"array": [], "object": {}}.get(each.get("type"), "")
        for name, each in form.schema.parameters["properties"].items()  # type: ignore[attr-defined]
    }
    assert read_object({**empty, "abstain": reason}, form) == Abstention(reason)
    for wrong in (right, {**empty, next(iter(right)): next(iter(right.values()))}):
        with pytest.raises(AnswerError, match="abstain stands beside other fields"):
            read_object({**wrong, "abstain": reason}, form)
    for no_text in (True, 1, ["why"], {"why": 1}):
        with pytest.raises(AnswerError, match="say why, as text"):
            read_object({"abstain": no_text}, form)


def test_a_field_that_has_to_be_said_is_not_absent_where_it_is_empty() -> None:
    for field in ("market_id", "estimated_probability", "bet", "confidence", "rationale"):
        for empty in ("", None):
            with pytest.raises(AnswerError, match=r"give|add"):
                read_object(answer(said(**{field: empty})), EVENT)
    form = context(rain("m1", "m2")).form()
    right = answer(said("m1", bet=0.2), said("m2", bet=0.3))
    assert len(decision_of(f"```JSON\n{json.dumps(right, indent=1)}\n```", form).forecasts) == 2


def test_capital_that_is_not_stated_is_what_the_bets_leave() -> None:
    bare = {name: value for name, value in answer().items() if name != "unallocated_capital"}
    found = taken(read_object(bare, EVENT))
    assert found.unallocated_usd is None
    seen = context()
    assert seen.game.book(found, seen.view, None, seen.view.prices, FillModel("mid")).unallocated_usd == 0.5


@pytest.mark.parametrize(
    ("text", "thoughts", "finish", "is_read"),
    [
        ("", "I weigh {it}. RIGHT", "stop", True),
        ("", "RIGHT", "stop", True),
        (" ", "So:\n```json\nRIGHT", "stop", True),
        ("", "So:\n```json\nRIGHT\n```\n", "stop", True),
        ("", "So:\n```json\nRIGHT\n```\nOr not.", "stop", False),
        ("", "RIGHT That is what I will say.", "stop", False),
        ("", "First RIGHT then RIGHT", "stop", False),
        ("", "I weigh it.", "stop", False),
        ("", "RIGHT", "length", False),
        ("I cannot.", "RIGHT", "stop", False),
    ],
)
def test_thoughts_are_read_only_where_nothing_else_came_and_they_end_with_their_only_object(
    text: str, thoughts: str, finish: FinishReason, is_read: bool
) -> None:
    right = json.dumps(answer())
    came = reply(text, finish=finish)
    state = json.dumps([{"reasoning_content": thoughts.replace("RIGHT", right)}])
    said_so = answer_text(replace(came, message=replace(came.message, state_json=state)))
    assert said_so == (right if is_read else text)


CALLS = (
    '{"name": "final_answer", "parameters": ARGS}',
    '{"type": "function", "function": {"name": "final_answer", "arguments": ARGS}}',
    '{"name": "final_answer", "arguments": TEXT}',
    '[{"name": "final_answer", "arguments": ARGS}]',
    '```json\n{"name": "functions.final_answer", "parameters": ARGS}\n```',
    '<think>so</think>I am done. <tool_call>{"name": "final_answer", "arguments": ARGS}</tool_call>',
    "<tool_call>\n<function=final_answer>\nFIELDS</function>\n</tool_call>",
    "[TOOL_CALLS]final_answer[ARGS]ARGS",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.final_answer:3<|tool_call_argument_begin|>ARGS"
    "<|tool_call_end|><|tool_calls_section_end|>",
    "[final_answer(PYTHON)]",
)


@pytest.mark.parametrize("game", GAMES)
def test_an_answer_that_is_a_call_in_words_is_the_same_in_every_game(game: str) -> None:
    form, right = GAMES[game]
    alone, text = form.parse(dict(right) if "label" in right else right), json.dumps(right)
    for call in CALLS:
        fields = "".join(
            f"<parameter={name}>\n{each if isinstance(each, str) else json.dumps(each)}\n</parameter>\n"
            for name, each in right.items()
        )
        python = ", ".join(f"{name}={each!r}" for name, each in right.items())
        for mark, said_so in (("TEXT", json.dumps(text)), ("FIELDS", fields), ("PYTHON", python)):
            call = call.replace(mark, said_so)
        call = re.sub(r"(?<!\[)ARGS(?!\])", lambda _: text, call)
        assert decision_of(call, form) == alone, call
        if "label" not in right:
            with pytest.raises(AnswerError):
                read_text(f"{call}\n{call}", form)


@pytest.mark.parametrize("before", ["", "I search {now}. ", 'First "x".\n'])
def test_a_call_is_looked_for_in_thoughts_where_nothing_else_came(before: str) -> None:
    came = reply("")
    search = '<tool_call>{"name": "web_search", "arguments": {"query": "rain"}}</tool_call>'
    for thoughts, is_read in (
        (before + search, True),
        (f"{before}<function=web_search><parameter=query>rain</parameter></function>", True),
        (f"{before}{search} Or not.", False),
        (f'{before}{{"a": 1}} {search}', False),
        (f"{before}{search}{search}", False),
        (f"{before}`{search}", False),
    ):
        state = json.dumps([{"reasoning_content": thoughts}])
        found = answer_text(replace(came, message=replace(came.message, state_json=state)))
        assert (call_in_words(found, [SEARCH], EVENT) is not None) is is_read, thoughts


def test_an_answer_in_words_hands_itself_in_where_it_may_be() -> None:
    text = f"<think>so</think>Here: {json.dumps(answer())}"
    for behind in ("", "\n```\n", "</answer><|im_end|>", " Tell me if you need more."):
        assert call_in_words(text + behind, [SEARCH], EVENT) is None
        call = call_in_words(text + behind, [SEARCH, EVENT.schema], EVENT)
        assert call is not None
        assert json.loads(call.arguments_json) == answer()
    assert call_in_words(text + json.dumps(answer()), [SEARCH, EVENT.schema], EVENT) is None
    assert call_in_words(f"{text} But first I call web_search.", [SEARCH, EVENT.schema], EVENT) is None
    assert call_in_words('Next: {"query": "rain"}', [SEARCH, EVENT.schema], EVENT) is None


@pytest.mark.parametrize(
    "hostile",
    ["{", "[", "<think>", "</think>", '{"', "{a{", "[{", "\ufeff", "}", '{"a":', " ", "Answer:", "[TOOL_CALLS]a"],
)
def test_no_text_takes_long_to_read(hostile: str) -> None:
    many_ends = '{"a":1}' * 25_000 + '{"label":1}' + "</think>" * 25_000
    texts = [(hostile * (100_000 // len(hostile)))[:100_000], *([many_ends] if hostile == "</think>" else [])]
    for form, _ in (GAMES["dollar_per_event"], GAMES["stakebench"]):
        for text in texts:
            began = time.process_time()
            with pytest.raises(AnswerError):
                read_text(text, form)
            assert time.process_time() - began < 1.5


def wordings() -> list[tuple[str, str, str]]:
    page = Path("docs/stakebench.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`+) ?(.+?) ?\1 \| (G\d) \| (\w+) \|$", page, re.MULTILINE)
    return [(said.replace("\\n", "\n"), task, label) for _, said, task, label in rows]


def test_the_page_shows_forty_wordings_of_which_fifteen_are_refused() -> None:
    assert len(wordings()) == len({said for said, *_ in wordings()}) == 40
    refused = [row for row in wordings() if row[2] == "refused"]
    assert len(refused) == 15
    assert all(
        re.search(r"\b(no|hold|up)\b", said, re.IGNORECASE) for said, _, label in wordings() if label == "refused"
    )


@pytest.mark.parametrize(("text", "task", "label"), wordings())
def test_a_label_is_read_as_the_page_says(text: str, task: str, label: str) -> None:
    form = Stakebench().form(replace(ITEM, task=task))
    if label == "refused":
        with pytest.raises(AnswerError, match=f"one of {', '.join(TASKS[task])}"):
            read_text(text, form)
        return
    decision = taken(read_text(text, form))
    assert decision.labels[0].label == label
    is_bare = text.casefold() == label.casefold() or text.startswith("<think>")
    assert decision.notes == (() if is_bare else (LENIENT,))
    strict = Stakebench(labels="strict").form(replace(ITEM, task=task))
    if is_bare:
        assert read_text(text, strict) == decision
    else:
        with pytest.raises(AnswerError):
            read_text(text, strict)


def test_the_last_line_with_a_label_decides_and_two_on_it_are_refused() -> None:
    labels = ("YES", "NO", "NEUTRAL")
    assert read_label("YES\nNO", labels) == ("NO", "YES")
    assert read_label("Answer: NO\nThat is all.", labels)[0] == "NO"
    for doubtful in (
        "NO\nYES or NO",
        "NO\nAnswer: unclear",
        "This shows no doubt. Answer: YES",
        "NO\nAnswer: YES. Answer: NO",
    ):
        with pytest.raises(AnswerError, match="exactly one of YES, NO, NEUTRAL"):
            read_label(doubtful, labels)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (f"{OBJECT}\nFinal answer: NO", "NO"),
        (f"{OBJECT}\nNO", "NO"),
        (f"```json\n{OBJECT}\n```\nOn reflection.\nFinal answer: NO", "NO"),
        ('{\n  "label": "YES"\n}\n**NO**', "NO"),
        (f"NO\n{OBJECT}", "YES"),
        ('{"label": "maybe"}\nAnswer: YES', "YES"),
        (f"{OBJECT}\n\nThey leave no doubt.", "YES"),
        (f"Answer: {OBJECT}", "YES"),
        ('<tool_call>{"name": "final_answer", "arguments": {"label": "yes."}}</tool_call>', "YES"),
        (f"Answer: NO {OBJECT}", None),
        ('YES {"label": "NO"}', None),
        ('{\n"label": "NO"\n} YES', None),
        (f"{OBJECT}\nAnswer: YES or NO", None),
        ('{"label": "YES\\nNO"}', None),
        ('{"label": "YES} not"}', None),
        ('{"label": ["YES"]}', None),
        ('{"label": "YES", "confidence": 0.9}', None),
        ('{"label": "YES."}', "YES"),
        ("_Answer_: YES", "YES"),
        ("__Answer:__ YES", "YES"),
        ('"Answer": YES', "YES"),
        ("`Answer`: YES", "YES"),
        ("Answer： YES", "YES"),
        ("<answer>YES</answer>", "YES"),
        ("<think>NO</think>\n<answer>\nYES\n</answer>", "YES"),
        ("Answer: <final>yes.</final>", "YES"),
        ("<answer>YES or NO</answer>", None),
        ("<answer>NO</answer> YES", None),
        ('"label": "YES"', None),
        ('{\n  "label": "YES"\n', None),
        ("{'label': 'YES'}", None),
    ],
)
def test_an_object_is_one_of_the_lines_of_which_the_last_decides(text: str, label: str | None) -> None:
    form = Stakebench().form(ITEM)
    if label is not None:
        assert [each.label for each in decision_of(text, form).labels] == [label]
        return
    with pytest.raises(AnswerError, match="one of YES, NO, NEUTRAL"):
        read_text(text, form)


def test_reasons_before_a_label_are_kept_where_they_were_asked_for() -> None:
    form = PAIR.reasoned()
    for text in (
        'Both rise.\n{"label": "0.4-0.6"}',
        "Both rise.\nAnswer: 0.4-0.6",
        'Both rise.\n```json\n{"label": "0.4-0.6"}\n```',
    ):
        decision = taken(read_text(f"<think>0.0-0.2?</think>{text}", form))
        assert decision.labels[0].label == "0.4-0.6"
        assert decision.rationale.startswith("Both rise.")
    last = taken(read_text('So.\n{"label":"0.0-0.2"}\nFinal answer: 0.4-0.6', form))
    assert (last.labels[0].label, last.rationale) == ("0.4-0.6", 'So.\n{"label":"0.0-0.2"}')
    first = taken(read_text('{"label": "0.0-0.2"} at first, then\n{"label": "0.4-0.6"}', form))
    assert first.labels[0].label == "0.4-0.6"


@pytest.mark.parametrize("form", [GAMES["stakebench"][0], Stakebench(labels="strict").form(ITEM), PAIR])
def test_a_text_game_takes_an_abstention_that_stands_alone_and_none_beside_a_label(form: AnswerForm) -> None:
    for shape in ("bare", "fence", "think", "wrapped in its name"):
        assert read_text(TAKEN[shape]('{"abstain": "it is in another language"}'), form) == Abstention(
            "it is in another language"
        )
    label = form.labels[0]
    for text in (f'{label}\n{{"abstain": "why"}}', f'{{"abstain": "why", "label": "{label}"}}', '{"abstain": ""}'):
        with pytest.raises(AnswerError):
            read_text(text, form)
