"""Selection: each rule of `selection.md`, their order, and what is said about what is left out."""

from dataclasses import replace
from datetime import timedelta

import pytest

from predibot.domain.event import Event, OrderTerms, UnplayedMarkets
from predibot.domain.price import Quote
from predibot.games.weekly_cohort import WeeklyCohort
from predibot.selection import Rejection, SelectionRules, select
from tests.selection.worlds import DAY, HOUR, NOW, RULES, WORDS, event, market, quoted


def passed_over(*events: Event, rules: SelectionRules = RULES) -> Rejection:
    selection = select(events, rules, NOW)
    assert not selection.selected
    (only,) = selection.passed_over
    return only


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (market("bad", closed=True), "closed"),
        (market("bad", outcomes=("A", "B", "C")), "not exactly two outcomes"),
        (replace(market("bad"), orders=OrderTerms(accepted=False)), "takes no orders"),
        (market("bad", outcomes=("Yes",)), "not exactly two outcomes"),
        (market("bad", quote=Quote(at=NOW)), "no quote"),
        (market("bad", quote=quoted(1.0)), "priced at 0 or 1"),
        (market("bad", quote=quoted(hours_ago=24.01)), "quote older than 24 h"),
        (market("bad", quote=quoted(hours_ago=-0.01)), "quoted only later"),
    ],
)
def test_a_market_that_cannot_be_played_is_dropped_with_a_note(bad, reason) -> None:  # type: ignore[no-untyped-def]  # parameters are told by their list
    selection = select([event("7", markets=[market("good"), bad])], RULES, NOW)
    assert [kept.id for kept in selection.selected[0].markets] == ["good"]
    assert f"event 7: 1 of 2 markets dropped: {reason} (bad)" in selection.notes


def test_two_outcomes_of_any_label_and_a_quote_of_exactly_a_day_are_played() -> None:
    playable = market("m", outcomes=("Chiefs", "Eagles"), quote=quoted(hours_ago=24.0))
    assert select([event(markets=[playable])], RULES, NOW).selected


def test_an_event_with_no_market_left_says_why_each_was_dropped() -> None:
    only = passed_over(event("7", markets=[market("a", closed=True), market("b", closed=True)]))
    assert (only.rule, only.reason) == ("unusable markets", "none of its 2 markets can be played: closed (a, b)")


@pytest.mark.parametrize("shut", [event(closed=True), event(archived=True)])
def test_an_event_that_is_closed_or_archived_is_not_open(shut: Event) -> None:
    assert passed_over(shut).rule == "open"


def test_the_end_may_be_at_most_sixty_days_away_to_the_second() -> None:
    assert select([event(closes_at=NOW + 60 * DAY)], RULES, NOW).selected
    only = passed_over(event(closes_at=NOW + 60 * DAY + timedelta(seconds=1)))
    assert only.rule == "ends_within_days"
    assert "ends_within_days is 60" in only.reason


def test_at_least_an_hour_must_be_left_to_the_second() -> None:
    assert select([event(closes_at=NOW + HOUR)], RULES, NOW).selected
    only = passed_over(event(closes_at=NOW + HOUR - timedelta(seconds=1)))
    assert only.rule == "min_hours_left"
    assert only.reason == "its end is 2026-02-13T20:29:59Z, 0.99 hours from now; min_hours_left is 1"


def test_an_end_in_the_past_is_played_only_where_the_recipe_says_so_and_no_end_at_all_never() -> None:
    ended = event(closes_at=NOW - DAY)
    assert passed_over(ended).reason == "its end is 2026-02-12T19:30Z, 24.00 hours ago; min_hours_left is 1"
    assert select([ended], SelectionRules(crypto=WORDS, min_hours_left="any"), NOW).selected
    assert select([event(closes_at=NOW)], SelectionRules(crypto=WORDS, min_hours_left=0.0), NOW).selected
    assert passed_over(ended, rules=SelectionRules(crypto=WORDS, min_hours_left=0.0)).rule == "min_hours_left"
    assert passed_over(event(closes_at=None)).reason == "it has no end"


def test_the_first_rule_an_event_fails_is_the_reason_in_the_order_of_the_rules() -> None:
    rules = SelectionRules(crypto=WORDS, include=("Sports",), per_category=1)
    worst: dict[str, object] = {"title": "Bitcoin?", "closes_at": None, "volume_24h": 0.0, "closed": True}
    worst["markets"] = [market(closed=True)]
    steps: list[tuple[str, dict[str, object]]] = [
        ("unusable markets", {"markets": []}),
        ("open", {"closed": False}),
        ("ends_within_days", {"closes_at": NOW}),
        ("min_hours_left", {"closes_at": NOW + DAY}),
        ("exclude", {"title": "Who wins?"}),
        ("include", {"tags": ["Sports"]}),
        ("min_volume_24h_usd", {}),
    ]
    for rule, better in steps:
        assert passed_over(event(**worst), rules=rules).rule == rule  # type: ignore[arg-type]  # one change each
        worst |= better


@pytest.mark.parametrize(
    ("word", "grounds"),
    [
        ("Chess", "its tag 'Chess'"),
        ("chess", "its tag 'Chess'"),
        ("board-games", "its tag 'Board Games'"),
        ("POLITICS", "its category 'Politics'"),
        ("crypto", "the word 'btc' in its tag 'BTC'"),
    ],
)
def test_categories_and_tags_are_kept_out_and_let_in_by_label_or_slug(word: str, grounds: str) -> None:
    tagged = event(tags=["Board Games", "Chess", "World Elections", "BTC"])
    kept_out = SelectionRules(crypto=WORDS, exclude=("basket", word))
    only = passed_over(tagged, rules=kept_out)
    assert (only.rule, only.reason) == ("exclude", f"{word}, by {grounds}")
    let_in = SelectionRules(crypto=WORDS, exclude=(), include=("basket", word))
    assert select([tagged], let_in, NOW).selected
    other = passed_over(event(tags=["Chess Boxing", "Sports"]), rules=let_in)
    assert (other.rule, other.reason) == ("include", f"neither its category nor a tag is one of: basket, {word}")


def test_a_word_that_no_event_has_is_told_because_it_may_be_misspelt() -> None:
    rules = SelectionRules(crypto=WORDS, exclude=("crypto", "sprots"), include=("Politics",))
    notes = select([event(tags=["Sports"]), event("2", tags=["Politics"])], rules, NOW).notes
    assert "exclude names 'sprots', which is no category and no tag of the 2 events listed" in notes
    assert not any("Politics" in note or "'crypto'" in note for note in notes)


def test_of_many_words_the_first_ten_are_told_and_the_others_counted() -> None:
    words = tuple(f"word {number}" for number in range(1_000))
    listed = [event(str(number), tags=["Sports", "Chess"]) for number in range(200)]
    chosen = select(listed, SelectionRules(crypto=WORDS, exclude=(), include=words), NOW)
    told = [note for note in chosen.notes if note.startswith("include names")]
    assert len(told) == 11
    assert told[-1] == "include names 990 more words that are no category and no tag of the 200 events listed"
    reason = chosen.passed_over[0].reason
    assert reason.startswith("neither its category") and reason.endswith("word 8, word 9 and 990 more")
    first = select(listed, SelectionRules(crypto=WORDS, exclude=("chess", *words, "SPORTS")), NOW).passed_over[0]
    assert first.reason == "chess, by its tag 'Chess'"


def test_at_most_so_many_of_a_category_are_played_and_quiet_ones_take_no_place() -> None:
    rules = SelectionRules(crypto=WORDS, per_category=1, events=3)
    listed = [
        event("1", tags=["NBA", "Sports"], volume=9.0, volume_24h=0.0),
        event("2", tags=["Sports"], volume=8.0),
        event("3", tags=["Esports"], volume=7.0),
        event("4", tags=["Politics"], volume=6.0),
        event("5", volume=5.0),
        event("6", volume=4.0),
    ]
    selection = select(listed, rules, NOW)
    assert [chosen.id for chosen in selection.selected] == ["2", "4", "5"]
    assert [(each.event_id, each.rule) for each in selection.passed_over] == [
        ("1", "min_volume_24h_usd"), ("3", "per_category"), ("6", "events"),
    ]  # fmt: skip
    assert selection.passed_over[1].reason == "1 more traded events of the category 'Sports' are played"
    assert len(select(listed, RULES, NOW).selected) == 5


def test_the_latest_end_of_the_markets_counts_only_where_the_event_has_none() -> None:
    late = [market("a", closes_at=NOW + DAY), market("b", closes_at=NOW + 61 * DAY)]
    assert passed_over(event(closes_at=None, markets=late)).rule == "ends_within_days"
    assert select([event(closes_at=NOW + DAY, markets=late)], RULES, NOW).selected


def test_crypto_is_excluded_unless_the_recipe_excludes_nothing() -> None:
    coin = event(title="Will BTC reach $200k?")
    assert passed_over(coin).reason == "crypto, by the word 'btc' in its title"
    assert select([coin], SelectionRules(crypto=WORDS, exclude=()), NOW).selected


def test_an_event_traded_too_little_is_passed_over_and_an_unknown_volume_is_not() -> None:
    assert select([event(volume_24h=1000.0)], RULES, NOW).selected
    assert select([event(volume_24h=None)], RULES, NOW).selected
    only = passed_over(event(volume_24h=999.99))
    assert (only.rule, only.reason) == ("min_volume_24h_usd", "$999.99 traded in 24 h, below $1,000.00")


def test_events_are_ranked_by_the_week_unknown_last_and_ties_by_id_as_text() -> None:
    listed = [event("5"), event("9", volume=7.0), event("10", volume=7.0), event("3", volume=8.0)]
    selection = select(listed, SelectionRules(crypto=WORDS, events=3), NOW)
    assert [chosen.id for chosen in selection.selected] == ["3", "10", "9"]
    (below,) = selection.passed_over
    assert (below.event_id, below.rule) == ("5", "events")
    assert below.reason == "rank 4 of 4 with an unknown volume traded in a week; the run plays 3"


def test_the_most_traded_markets_are_kept_and_the_rest_named() -> None:
    crowd = event(
        "7", markets=[market("9", volume=1.0), market("10", volume=1.0), market("3"), market("4", volume=2.0)]
    )
    selection = select([crowd], SelectionRules(crypto=WORDS, max_markets=2), NOW)
    assert [kept.id for kept in selection.selected[0].markets] == ["4", "10"]
    assert "event 7: max_markets is 2, so 2 less traded are not played: 9, 3" in selection.notes


def test_the_markets_left_out_are_counted_with_the_sum_of_their_prices_where_all_have_one() -> None:
    group = [replace(market(name, volume=9.0 - number, quote=quoted(price)), exclusive_group="g")
             for number, (name, price) in enumerate({"a": 0.5, "b": 0.3, "c": 0.125, "d": 0.0625}.items())]  # fmt: skip
    others = [market("e"), market("f", closed=True), market("x", volume=99.0)]
    rules = SelectionRules(crypto=WORDS, max_markets=2)
    (chosen,) = select([event("7", markets=[*reversed(group), *others])], rules, NOW).selected
    assert [kept.id for kept in chosen.markets] == ["x", "a"]
    assert chosen.left_out == (
        UnplayedMarkets(1, "", chosen.markets[0].quote.price.yes),
        UnplayedMarkets(3, "g", 0.4875),
    )  # type: ignore[union-attr]
    unpriced = replace(group[3], quote=quoted(0.0625, hours_ago=25.0))
    (chosen,) = select([event("7", markets=[*group[:3], unpriced])], rules, NOW).selected
    assert chosen.left_out == (UnplayedMarkets(2, "g", None),)
    assert select([event("7", markets=group)], RULES, NOW).selected[0].left_out == ()


def test_zero_markets_means_all_of_them() -> None:
    crowd = event(markets=[market(str(number)) for number in range(30)])
    assert len(select([crowd], RULES, NOW).selected[0].markets) == 20
    assert len(select([crowd], SelectionRules(crypto=WORDS, max_markets=0), NOW).selected[0].markets) == 30


def test_fewer_events_than_asked_for_is_a_note() -> None:
    assert select([event()], RULES, NOW).notes == ("1 of 10 events: no other event keeps the rules",)
    assert select([], RULES, NOW).notes == ("0 of 10 events: no other event keeps the rules",)


def test_a_named_event_is_held_to_its_markets_only_and_a_note_says_so() -> None:
    named = event("7", title="Bitcoin?", closes_at=None, volume_24h=0.0)
    rules = SelectionRules(crypto=WORDS, include=("Sports",), per_category=1)
    selection = select([event("8"), named], rules, NOW, only_event_id="7")
    assert [chosen.id for chosen in selection.selected] == ["7"]
    assert not selection.passed_over
    waived = "ends_within_days, min_hours_left, exclude, include, per_category, min_volume_24h_usd and rank_by"
    assert f"{waived} were waived" in selection.notes[0]


def test_a_named_event_must_still_be_open_and_playable_and_is_trimmed() -> None:
    assert select([event("7", closed=True)], RULES, NOW, only_event_id="7").passed_over[0].rule == "open"
    crowd = event("7", markets=[market(str(number)) for number in range(30)])
    assert len(select([crowd], RULES, NOW, only_event_id="7").selected[0].markets) == 20
    assert select([crowd], RULES, NOW, only_event_id="8").notes == ("event 8 is not among the events of the venue",)


def test_an_event_listed_twice_is_played_once() -> None:
    selection = select([event("7", volume=1.0), event("7", volume=2.0)], RULES, NOW)
    assert [chosen.volume_1wk_usd for chosen in selection.selected] == [2.0]
    assert selection.notes[0] == "event 7 was listed more than once; the most traded version counts"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ends_within_days": float("nan")}, "ends_within_days"),
        ({"min_volume_24h_usd": -1.0}, "min_volume_24h_usd"),
        ({"max_markets": -1}, "max_markets"),
        ({"events": 0}, "at least 1"),
        ({"min_hours_left": -1.0}, "min_hours_left is -1.0; it is hours, 0 or more, or 'any'"),
        ({"min_hours_left": float("inf")}, "min_hours_left"),
        ({"min_hours_left": "all"}, "min_hours_left is 'all'"),
        ({"exclude": ("sports", " ")}, "exclude has an empty word"),
        ({"include": ("",)}, "include has an empty word"),
        ({"include": ("Crypto",)}, "exclude and include both have 'crypto'"),
        ({"per_category": -1}, "per_category"),
        ({"rank_by": "volume"}, "volume_1wk"),
    ],
)
def test_rules_nothing_can_be_held_to_are_refused(changed, message: str) -> None:  # type: ignore[no-untyped-def]  # one rule each
    with pytest.raises(ValueError, match=message):
        SelectionRules(crypto=WORDS, **changed)


def test_a_game_may_play_markets_of_more_than_two_outcomes_of_which_one_can_be_bought() -> None:
    rules = WeeklyCohort().select(RULES)
    prices = ((0.4, 0.0, 0.6), (1.0, 0.0, 0.0), (None, 0.3, None), (None, None, None))
    listed = []
    for number, row in enumerate(prices):
        quotes = tuple(None if price is None else Quote(at=NOW, displayed=price) for price in row)
        named = replace(market(f"n{number}", outcomes=("Reds", "No", "Blues")), quote=None, outcome_quotes=quotes)
        listed.append(replace(named, volume_usd=None if number == 2 else 100.0 + number))
    binary = replace(market("b"), volume_usd=100.0)
    chosen = select([event("7", markets=[*listed, binary], tags=("Crypto",))], rules, NOW)
    # Of equal volumes the lower id first, and the unknown one last.
    assert [each.id for each in chosen.selected[0].markets] == ["b", "n0", "n2"]
    assert "markets of these events dropped: 1 no quote, 1 priced at 0 or 1" in chosen.notes
    assert [each.id for each in select([event("7", markets=[*listed, binary])], RULES, NOW).selected[0].markets] == [
        "b"
    ]
