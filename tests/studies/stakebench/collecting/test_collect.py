"""Collecting: what a crowd served, joined and labelled, against what is known of the crowd."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from predibot.contracts import Progress
from predibot.errors import UsageError, VenueUnavailable
from predibot.studies.data_set import DataSet
from predibot.studies.stakebench.collecting.collect import (
    add_platform,
    collect_comments,
    read_or_make_salt,
    salted_id,
)
from predibot.studies.stakebench.collecting.raw_store import RawStore
from predibot.studies.stakebench.collecting.sources import CommentSource, Get, ManifoldComments, PolymarketComments
from predibot.studies.stakebench.crowd import DAY, LONG_THREAD, CrowdMarket, CrowdTrade, crowd
from predibot.studies.stakebench.crowd_host import CrowdHost
from predibot.studies.stakebench.scores.tables import Readings, stakebench_tables
from predibot.studies.stakebench.tasks import TASKS, draw_items
from predibot.studies.stakebench.venues.comments import COMMENTS
from tests.soaks import few

SALT = bytes(range(32))


class Asked:
    """Asks a crowd, and hangs up after so many answers."""

    def __init__(self, host: CrowdHost, *, at_most: int | None = None) -> None:
        self.host, self.at_most = host, at_most

    def __call__(self, url: str, params: Sequence[tuple[str, str]]) -> object:
        if self.at_most is not None and len(self.host.requests) >= self.at_most:
            raise VenueUnavailable("killed")
        reply = self.host.reply(f"/{url}?{urlencode(list(params))}")
        assert reply.status == 200, (url, params, reply)
        return json.loads(reply.body)


def collected(
    host: CrowdHost, folder: Path, *, manifold: bool, at_most: int | None = None
) -> tuple[dict[str, int], int]:
    return collected_from(Asked(host, at_most=at_most), folder, manifold=manifold)


def collected_from(get: Get, folder: Path, *, manifold: bool) -> tuple[dict[str, int], int]:
    store = RawStore(folder)
    source: CommentSource = (
        ManifoldComments(get, store, manifold_url="manifold")
        if manifold
        else PolymarketComments(get, store, gamma_url="gamma", data_url="data", clob_url="clob")
    )
    return collect_comments(source, store, salt=SALT, listener=_unheard)


def _unheard(_: Progress) -> None:
    """Nobody listens."""


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


class Truth:
    """What is known of one person in one market, by adding up whole numbers."""

    def __init__(self, deeds: Sequence[CrowdTrade], *, manifold: bool) -> None:
        self.manifold = manifold
        self.deeds = [each for each in deeds if each.kind not in ("cancelled", "redemption")]

    def shares(self, second: int) -> int:
        """Return YES less NO before a second."""
        if any(each.kind == "redeem" and each.at < second for each in self.deeds):
            return 0
        return sum(each.yes - each.no for each in self.deeds if each.at < second)

    def position(self, second: int) -> tuple[str | None, float]:
        past = [each for each in self.deeds if each.at < second]
        mana = [sum(each.paid for each in past if getattr(each, side)) for side in ("yes", "no")]
        if self.manifold:
            if max(mana) <= 0 or mana[0] == mana[1]:
                return None, 0.0
            return ("YES" if mana[0] > mana[1] else "NO"), float(max(mana))
        net = self.shares(second)
        return (None, 0.0) if net == 0 else ("YES" if net > 0 else "NO", float(sum(each.paid for each in past)))

    def action(self, second: int, side: str, *, hours: int = 48) -> str | None:
        before = self.shares(second)
        if before == 0 or (before > 0) != (side == "YES"):
            return None
        end = min([second + hours * 3_600 + 1, *(each.at for each in self.deeds if each.kind == "redeem")])
        moments = [each.at for each in self.deeds if second <= each.at < end]
        while moments:
            inside = [moment for moment in moments if moment <= moments[0] + 60]
            after = self.shares(inside[-1] + 1)
            if after != before:
                if after * before < 0:
                    return "flip"
                return "increase" if abs(after) > abs(before) else "decrease"
            moments = moments[len(inside) :]
        return "hold"


def _mean(market: CrowdMarket, start: int, end: int) -> float | None:
    """Return the mean price by adding up seconds between its steps; None where a part is unknown."""
    if start < market.prices[0][0] or end > market.closes:
        return None
    marks = sorted({start, end, *(at for at, _ in market.prices if start < at < end)})
    spans = pairwise(marks)
    return sum(market.price_at(a) * (b - a) for a, b in spans) / (1000 * (end - start))


def true_windows(market: CrowdMarket, seconds: list[int]) -> list[tuple[int, int, str]]:
    """Return (start, days, direction) of the windows, by trying every number of days."""
    found, left = [], list(seconds)
    while left:
        start = left[0]
        days = next((h for h in range(1, 31) if sum(at < start + h * DAY for at in left) >= 10), None)
        if days is None:
            left = left[1:]
            continue
        middle = start + days * DAY
        before, after = _mean(market, start, middle), _mean(market, middle, middle + days * DAY)
        if before is not None and after is not None and abs(after - before) > 0.005 + 1e-12:
            found.append((start, days, "UP" if after > before else "DOWN"))
        left = [at for at in left if at >= middle]
    return found


def crowd_scores(folder: Path, seed: int) -> tuple[Counter[str], dict[str, dict[str, Any]]]:
    """Return the actions of a crowd, and the main table of an oracle of skill .7 and of the commonest label."""
    venue, rng = DataSet([folder], COMMENTS), random.Random(seed)
    drawn = draw_items(venue.rows, tasks=TASKS, per_split=100, seed=seed)
    facts = {item.subject_id: item for item in drawn.items}
    labels: dict[str, dict[str, str | None]] = {"majority": {}, "oracle": {}}
    for name, of_task in TASKS.items():
        own = {id_: fact.known.label for id_, fact in facts.items() if fact.task == name}
        commonest = Counter(label or "NEUTRAL" for label in own.values()).most_common(1)[0][0]
        for id_, label in own.items():
            others = [each for each in of_task if each != label]
            labels["majority"][id_] = commonest
            labels["oracle"][id_] = label if label and rng.random() < 0.7 else rng.choice(others)
    main = stakebench_tables(Readings(facts, labels, drawn.crowds))[0]
    done = Counter(row.action for row in venue.rows("comments") if row.action is not None)
    return done, {str(row[0]): dict(zip(main.columns, row, strict=True)) for row in main.rows}


@pytest.mark.parametrize(
    ("seed", "manifold"), few([(1, False), (2, True), (1, True), (2, False)], (1, False), (2, True))
)
def test_every_label_is_the_truth_of_what_was_served(tmp_path: Path, seed: int, *, manifold: bool) -> None:
    markets = crowd(seed, manifold=manifold, comments=2_500)
    funnel, _ = collected(CrowdHost(markets), tmp_path, manifold=manifold)
    rows, windows = rows_of(tmp_path, "comments.jsonl"), rows_of(tmp_path, "windows.jsonl")
    assert funnel["comments served"] >= 2_000
    seen, sides, actions, all_windows = 0, set(), set(), 0
    by_comment = {(row["market"], row["comment"]): row for row in rows}
    exported = partial(salted_id, SALT, "manifold" if manifold else "polymarket")
    for market in markets:
        id_ = f"c{market.number}" if manifold else str(500_000 + market.number)
        hidden = exported("market", id_)
        positioned: list[int] = []
        for said in market.comments:
            row = by_comment.get((hidden, exported("comment", f"{id_}|{said.id}")))
            if row is None:
                continue
            seen += 1
            truth = Truth(market.trades[said.user], manifold=manifold)
            side, size = truth.position(said.at)
            action = None if side is None else truth.action(said.at, side)
            assert (row["side"], row["size"], row["action"]) == (side, pytest.approx(size), action)
            within = [side and truth.action(said.at, side, hours=hours) for hours in (6, 12, 24, 48, 72)]
            assert row["actions"] == [each for each in within if each is not None]
            known = said.at >= market.prices[0][0]
            assert row["price_yes"] == (pytest.approx(market.price_at(said.at) / 1_000) if known else None)
            assert row["resolved"] == (1 if market.pays_yes else -1)
            sides.add(side)
            actions.add(action)
            positioned += [said.at] if side is not None else []
        expected = true_windows(market, positioned)
        all_windows += len(expected)
        got = [
            (int(datetime.fromisoformat(each["start"]).astimezone(UTC).timestamp()), each["days"], each["direction"])
            for each in windows
            if each["market"] == hidden
        ]
        assert got == expected
    assert seen == len(rows) >= 1_800
    assert sides == {"YES", "NO", None}
    assert {"flip", "increase", "decrease", "hold"} <= actions
    assert all_windows == len(windows) > 50
    # The paper's Table 4 has .476 for hold.
    done, scores = crowd_scores(tmp_path, seed)
    assert 0.43 < done["hold"] / done.total() < 0.53
    assert min(done[action] for action in TASKS["G3"]) > 0.05 * done.total()
    for score in ("Agg", "G1 Acc", "G2 strict", "G3 Acc_act"):
        assert scores["oracle"][score] > scores["majority"][score], score


def test_what_is_left_out_adds_up_and_a_thread_beyond_the_api_is_marked(tmp_path: Path) -> None:
    markets = crowd(3, manifold=False)
    funnel, _ = collected(CrowdHost(markets), tmp_path, manifold=False)
    left = sum(n for stage, n in funnel.items() if stage.startswith("- comments"))
    assert funnel["comments served"] - left == funnel["comments labelled"]
    assert funnel["threads truncated"] == 1
    cut = [row for row in rows_of(tmp_path, "comments.jsonl") if row["truncated"]]
    assert len({row["market"] for row in cut}) == 1
    assert funnel["comments served"] < sum(len(market.comments) for market in markets)
    assert LONG_THREAD > 600


@pytest.mark.parametrize("manifold", [False, True])
def test_a_killed_collection_goes_on_and_asks_for_nothing_twice(tmp_path: Path, *, manifold: bool) -> None:
    markets = crowd(4, manifold=manifold, markets=8, comments=900)
    whole = CrowdHost(markets)
    collected(whole, tmp_path / "whole", manifold=manifold)
    host, folder = CrowdHost(markets), tmp_path / "killed"
    for at_most in (3, len(whole.requests) // 2):
        with pytest.raises(VenueUnavailable):
            collected(host, folder, manifold=manifold, at_most=at_most)
        assert not (folder / "comments.jsonl").exists()
    _, asked = collected(host, folder, manifold=manifold)
    assert asked > 0
    # Answers of several pages are kept whole: of the one that was cut off its pages are asked for anew.
    again = len(host.requests) - len(set(host.requests))
    assert again <= 8
    for name in ("comments.jsonl", "windows.jsonl"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    asked = len(host.requests)
    assert collected(host, folder, manifold=manifold)[1] == 0
    assert len(host.requests) == asked


def test_no_id_of_a_person_is_exported(tmp_path: Path) -> None:
    markets = crowd(5, manifold=True, markets=4, comments=600)
    collected(CrowdHost(markets), tmp_path, manifold=True)
    exported = (tmp_path / "comments.jsonl").read_text() + (tmp_path / "windows.jsonl").read_text()
    assert exported
    assert not any(user in exported for user in markets[0].trades)


def test_a_salt_is_made_once_and_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    assert read_or_make_salt(tmp_path / "salt") == read_or_make_salt(tmp_path / "salt")
    assert (tmp_path / "salt").stat().st_mode & 0o077 == 0
    (tmp_path / "other").write_text("hello")
    with pytest.raises(UsageError, match="holds no salt"):
        read_or_make_salt(tmp_path / "other")


def test_platforms_become_one_data_set_and_a_later_collection_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    both = tmp_path / "both"
    both.mkdir()

    def put(platform: str, *texts: str) -> None:
        folder = tmp_path / platform
        folder.mkdir(exist_ok=True)
        for name in ("comments", "windows"):
            lines = [json.dumps({"platform": platform, "text": text}) + "\n" for text in texts]
            (folder / f"{name}.jsonl").write_text("".join(lines))
        add_platform(folder, both, platform)

    def texts() -> list[str]:
        return [row["text"] for row in rows_of(both, "comments.jsonl")]

    put("polymarket", "a", "b")
    put("manifold", "c")
    assert texts() == ["a", "b", "c"]
    put("polymarket", "d")
    assert texts() == ["c", "d"] and len(rows_of(both, "windows.jsonl")) == 2
    (both / "comments.jsonl").write_text("no data set")
    with pytest.raises(UsageError, match="is no data set of comments"):
        put("manifold", "e")
    assert (both / "comments.jsonl").read_text() == "no data set"
