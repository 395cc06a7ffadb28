"""The text of a recipe: what it means, and that every mistake names file, line and the nearest word."""

import json
from datetime import UTC, date, datetime, timedelta

import pytest

from predibot.domain.budget import Limits
from predibot.domain.terms import ModelSettings
from predibot.recipe.recipe import Recipe, bot_as_data, bot_of_data
from tests.recipe.texts import mistake, parse

BOT = '[[bots]]\nstrategy = "market_price"\n'
AGENT = '[[bots]]\nstrategy = "tool_agent"\nmodel = "x/y"\n'
WHOLE = """\
name = "mine"
game = "dollar_per_event"
venue = "archive:data/2026"
every = "6h"
seed = 7
overstake = "scale"

[selection]
ends_within_days = 30
min_hours_left = 2
exclude = []
include = ["Politics", "chess"]
per_category = 3
crypto_words = ["Monad"]
min_volume_24h_usd = 5
rank_by = "volume_1wk"
max_markets = 0
events = 3

[[bots]]
strategy = "random_bet"

[[bots]]
name = "by-volume"
strategy = "market_price"
stake = "top_volume"
"""


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def test_everything_a_recipe_may_say_is_understood() -> None:
    recipe = parse(WHOLE)
    assert (recipe.name, recipe.game, recipe.venue) == ("mine", "dollar_per_event", "archive:data/2026")
    assert (recipe.every, recipe.seed, recipe.overstake) == (timedelta(hours=6), 7, "scale")
    rules = recipe.selection
    assert (rules.ends_within_days, rules.exclude, rules.min_volume_24h_usd) == (30.0, (), 5.0)
    assert (rules.max_markets, rules.events) == (0, 3)
    assert (rules.min_hours_left, rules.include, rules.per_category) == (2.0, ("Politics", "chess"), 3)
    assert parse('[selection]\nmin_hours_left = "any"\n' + BOT).selection.min_hours_left == "any"
    assert parse(BOT).selection.min_hours_left == 1.0
    assert parse(f'venue = "sandbox:seed=7,events=30"\n{BOT}').venue == "sandbox:seed=7,events=30"
    assert {"monad", "bitcoin"} <= set(rules.crypto.unless)
    assert [(bot.name, bot.strategy.name) for bot in recipe.bots] == [
        ("random_bet", "random_bet"),
        ("by-volume", "market_price"),
    ]
    assert recipe.bots[1].strategy.arguments == {"stake": "top_volume"}


def test_what_a_recipe_leaves_out_has_the_defaults_of_the_contract() -> None:
    recipe = parse(BOT, name="evening")
    assert (recipe.name, recipe.game, recipe.venue) == ("evening", "dollar_per_event", "polymarket")
    assert (recipe.every, recipe.seed, recipe.overstake) == (timedelta(days=1), 0, "refuse")
    rules = recipe.selection
    assert (rules.ends_within_days, rules.exclude, rules.min_volume_24h_usd) == (60.0, ("crypto",), 1000.0)
    assert (rules.rank_by, rules.max_markets, rules.events) == ("volume_1wk", 20, 10)


@pytest.mark.parametrize(
    ("every", "length"), [("30m", {"minutes": 30}), ("6h", {"hours": 6}), ("7d", {"days": 7}), ("2w", {"weeks": 2})]
)
def test_every_is_a_number_and_a_unit(every: str, length: dict[str, int]) -> None:
    assert parse(f'every = "{every}"\n{BOT}').every == timedelta(**length)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sed = 1\n" + BOT, "line 1: unknown key 'sed' at the top of the file. Did you mean 'seed'?"),
        (BOT + "[selection]\nevent = 3", "line 4: unknown key 'event' in [selection]. Did you mean 'events'?"),
        (
            BOT + "[selecton]\nevents = 3",
            "line 3: unknown key 'selecton' at the top of the file. Did you mean 'selection'",
        ),
        ('\n[[bots]]\nstratgy = "x"', "line 3: unknown key 'stratgy' in [[bots]]. Did you mean 'strategy'?"),
        (BOT + 'nme = "x"', "line 3: unknown key 'nme' in [[bots]]. Did you mean 'name'?"),
        (BOT + 'stak = "equal"', "line 3: unknown key 'stak' in [[bots]]. Did you mean 'stake'?"),
        ('[[bot]]\nstrategy = "x"', "line 1: unknown key 'bot' at the top of the file. Did you mean 'bots'?"),
        ("zzz = 1\n" + BOT, "line 1: unknown key 'zzz' at the top of the file. Valid are: bots, every, game"),
        ("events = 3\n" + BOT, "line 1: 'events' does not belong at the top of the file; it belongs in [selection]"),
        (BOT + "seed = 3", "line 3: 'seed' does not belong in [[bots]]; it belongs at the top of the file"),
        ('[selection]\nstrategy = "x"\n' + BOT,
         "line 2: 'strategy' does not belong in [selection]; it belongs in [[bots]]"),
        ("max_market = 3\n" + BOT, "line 1: unknown key 'max_market' at the top of the file. "
         "Did you mean 'max_markets' in [selection]?"),
        ('seed = "7"\n' + BOT, "line 1: 'seed' at the top of the file is '7'; it should be a valid integer"),
        ("seed = true\n" + BOT, "line 1: 'seed' at the top of the file is True; it should be a valid integer"),
        ("seed = -1\n" + BOT, "line 1: 'seed' at the top of the file is -1; it should be greater than or equal to 0"),
        ("[selection]\n\nevents = 0\n" + BOT, "line 3: 'events' in [selection] is 0; it should be greater than"),
        ("[selection]\nevents = 1.5\n" + BOT, "line 2: 'events' in [selection] is 1.5; it should be a valid integer"),
        ("[selection]\nends_within_days = nan\n" + BOT, "line 2: 'ends_within_days' in [selection] is nan"),
        ("[selection]\nmin_volume_24h_usd = -5\n" + BOT, "line 2: 'min_volume_24h_usd' in [selection] is -5"),
        ('[selection]\nrank_by = "volume_1wek"\n' + BOT, "line 2: 'rank_by' in [selection] is 'volume_1wek'. "
         "Did you mean 'volume_1wk'?"),
        ('[selection]\nexclude = [\n7]\n' + BOT, "line 3: 'exclude' in [selection] has 7; name categories or tags"),
        ('[selection]\ninclude = [" "]\n' + BOT, "line 2: 'include' in [selection] has ' '; name categories or tags"),
        ('[selection]\ninclude = ["x", "Crypto"]\n' + BOT, "line 2: exclude and include both have 'crypto'"),
        ("limits = 4\n" + BOT, "line 1: 'limits' is 4; write a table, which begins with [limits]"),
        ("selection = 5\n" + BOT, "line 1: 'selection' is 5; write a table, which begins with [selection]"),
        ('schedule = "daily"\n' + BOT, "line 1: 'schedule' is 'daily'; write a table, which begins with [schedule]"),
        ('bots = ["market_price"]', "line 1: bots are tables of a list; begin each with [[bots]]"),
        ('[selection]\nexclude = "x"\n' + BOT, "line 2: 'exclude' in [selection] is 'x'; it should be a valid list"),
        ('[selection]\nmin_hours_left = "all"\n' + BOT,
         "line 2: 'min_hours_left' in [selection] is 'all'; write hours, 0 or more, or \"any\""),
        ("[selection]\nmin_hours_left = -1\n" + BOT, "line 2: 'min_hours_left' in [selection] is -1; write hours"),
        ("[selection]\nmin_range = 0.02\n" + BOT, "line 2: min_range is a range of prices in history_days"),
        ("[selection]\nhistory_days = -1\n" + BOT, "line 2: 'history_days' in [selection] is -1"),
        ("[selection]\nper_category = -1\n" + BOT, "line 2: 'per_category' in [selection] is -1"),
        ('[selection]\ncrypto_words = ["bit coin"]\n' + BOT, "line 2: 'bit coin' is not one word"),
        ('overstake = "skale"\n' + BOT, "line 1: 'overstake' at the top of the file is 'skale'. Did you mean 'scale'?"),
        ('game = "dollar_an_event"\n' + BOT, "line 1: no game 'dollar_an_event'. Did you mean 'dollar_per_event"),
        ('venue = "polymarkt"\n' + BOT, "line 1: no venue 'polymarkt'. Did you mean 'polymarket'?"),
        ('venue = "archive:"\n' + BOT, "line 1: venue 'archive:' is written archive:FOLDER; write that"),
        ('every = "daily"\n' + BOT, "line 1: 'every' is 'daily'; write a length of at most 366 days like '1d'"),
        ('every = "0d"\n' + BOT, "line 1: 'every' is '0d'"),
        ('every = "367d"\n' + BOT, "line 1: 'every' is '367d'"),
        ("seed = 1\n", "line 1: there are no bots. Add [[bots]]"),
        ("", "line 1: there are no bots"),
        ("seed = 1\nbots = []", "line 2: there are no bots"),
        ('[bots]\nstrategy = "x"', "line 1: bots are tables of a list; begin each with [[bots]]"),
        ("seed = 1\n[[bots]]", "line 2: [[bots]] has no 'strategy'"),
        ('name = "a b"\n' + BOT, "line 1: name 'a b' must be 1 to 80 letters, digits"),
        ('name = ""\n' + BOT, "line 1: name '' must be"),
        ('name = ".."\n' + BOT, "line 1: name '..' must be"),
        (BOT + 'name = "a/b"', "line 3: name 'a/b' must be"),
        (BOT + BOT, "line 4: two bots are named 'market_price'. Give one of them another name"),
        ('[[bots]]\nstrategy = "market_prise"', "line 2: no strategy 'market_prise'. Did you mean 'market_price'?"),
        (BOT + 'stake = "eqal"', "line 3: strategy 'market_price': argument 'stake': it should be 'equal' or"),
        (BOT + "stake = 2026-01-01", "line 3: strategy 'market_price': argument 'stake': it is text"),
        (BOT + "[limit.run]\nusd = 1", "line 3: unknown key 'limit' at the top of the file. Did you mean 'limits'?"),
        (BOT + "[limits.runs]\nusd = 1", "line 3: unknown key 'runs' in [limits]. Did you mean 'run'?"),
        (BOT + "[limits]\nusd = 1", "line 4: 'usd' does not belong in [limits]; it belongs in a table of [limits]"),
        (BOT + "[limits.run]\nusdd = 1", "line 4: unknown key 'usdd' in a table of [limits]. Did you mean 'usd'?"),
        (BOT + "[limits.run]\nusd = -1", "line 4: 'usd' in a table of [limits] is -1; it should be greater than or"),
        (BOT + '[search]\nprovider = ["x"]', "line 4: unknown key 'provider' in [search]. Did you mean 'providers'?"),
        (BOT + '[search]\nbase_urls = {ddg = "http://x"}', "line 4: 'ddg' is not one of the providers. Did you mean"),
        (BOT + '[search]\nproviders = ["ddgs", "searxng"]',
         "line 4: 'searxng' is an instance of your own. Add base_urls = {searxng = \"http://localhost:8888\"}"),
        (BOT + '[search]\nproviders = ["searxng"]\nbase_urls = {searxng = "https://me:hush@x"}',
         "line 5: 'searxng' in [search] is an address that begins with http:// or https://, without user name"),
        (BOT + '[search]\n\nproviders = ["ddgs", "bravo"]',
         "line 5: 'providers' in [search] is 'bravo'. Did you mean 'brave'?"),
        (BOT + "[search]\nproviders = []", "line 4: 'providers' in [search] is []; "),
        (BOT + "[search]\nusd_per_call = {ddgs = -0.005}", "line 4: 'ddgs' in [search] is -0.005; it should be"),
        (BOT + "[search.usd_per_call]\nddgs = nan", "line 4: 'ddgs' in [search] is nan; it should be a finite number"),
        (BOT + "[search]\nresults = 0", "line 4: 'results' in [search] is 0; it should be greater than or equal to 1"),
        (AGENT + 'base_ur = "x"', "line 4: unknown key 'base_ur' in [[bots]]. Did you mean 'base_url'?"),
        (AGENT + 'base_url = "ftp://x"', "line 4: 'base_url' in [[bots]] is an address that begins with http"),
        (AGENT + 'base_url = "https://me:hush@x"', "line 4: 'base_url' in [[bots]] is an address that begins"),
        (AGENT + 'client = "lite"', "line 4: 'client' in [[bots]] is 'lite'. Did you mean 'litellm'?"),
        (AGENT + "knowledge_cutof = 2025-01-01", "line 4: unknown key 'knowledge_cutof' in [[bots]]. Did you mean"),
        (AGENT + "min_searchs = 1", "line 4: unknown key 'min_searchs' in [[bots]]. Did you mean 'min_searches'?"),
        *(
            (f"{AGENT}price_usd_per_million_tokens = {price}",
             "line 4: 'price_usd_per_million_tokens' in [[bots]] is")
            for price in ("-1", '"free"', "{input = 1}", "{input = 1, outptu = 2}")
        ),
        (AGENT + "price_usd_per_search = 0.01", "line 4: price_usd_per_search goes with price_usd_per_million_tokens"),
        (AGENT + "price_usd_per_search = -1", "line 4: 'price_usd_per_search' in [[bots]] is -1; it should be"),
        ('[[bots]]\nstrategy = "tool_agent"', "line 1: strategy 'tool_agent': argument 'model' is missing"),
        (BOT + '[[bots]]\nstrategy = "ensemble"\nmembers = ["market_prise"]',
         "line 5: bot 'ensemble': its member 'market_prise' is no bot of this recipe. Did you mean 'market_price'?"),
        (BOT + '[[bots]]\nstrategy = "ensemble"\nmembers = ["ensemble"]',
         "line 5: bot 'ensemble': its member 'ensemble' is the bot itself. Valid are: market_price"),
        (BOT + "".join(f'[[bots]]\nname = "{a}"\nstrategy = "calibrated"\nbot = "{b}"\n' for a, b in ("ab", "ba")),
         "line 3: bots wait for each other: a for b for a. Break the circle"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line_and_what_it_should_be_or_where_it_belongs(text: str, said: str) -> None:
    assert f"runs/x.toml, {said}" in mistake(text)
    assert "hush" not in mistake(text)


@pytest.mark.parametrize(
    ("text", "line"), [("seed = 1\nvenue = \n", 2), ("a = 1\na = 2", 2), ("[x\n", 1), ('\n\nname = "a\n', 3)]
)
def test_what_is_not_toml_is_said_to_be_none_with_its_line(text: str, line: int) -> None:
    assert mistake(text).startswith(f"runs/x.toml, line {line}: this is not TOML")


@pytest.mark.parametrize(
    "key",
    [
        "api_key",
        "apikey",
        "apiKey",
        "OPENAI_API_KEY",
        "token",
        "auth-token",
        "'a.token'",
        "secrets",
        "dbPassword",
        "key1",
    ],
)
@pytest.mark.parametrize("head", ["", BOT, "[selection]\n", "[x.y]\n"])
def test_a_key_that_looks_like_a_secret_is_refused_anywhere_and_its_value_kept_back(key: str, head: str) -> None:
    text = mistake(f'{head}{key} = "sk-hush"\n')
    assert "looks like a secret. Take it out and put it into the environment" in text
    assert f"runs/x.toml, line {head.count(chr(10)) + 1}: " in text
    assert "hush" not in text


@pytest.mark.parametrize("key", ["max_tokens", "keyboard", "monkey", "tokens"])
def test_a_key_that_only_contains_such_letters_is_no_secret(key: str) -> None:
    assert "looks like a secret" not in mistake(f"{key} = 1\n{BOT}")


def test_a_recipe_says_what_a_model_costs_where_it_is_and_what_may_be_spent() -> None:
    recipe = parse(
        AGENT + 'base_url = "http://localhost:8080/v1"\ncredential = "MY_API_KEY"\nknowledge_cutoff = 2025-01-31\n'
        "price_usd_per_million_tokens = {input = 1.25, output = 10}\nprice_usd_per_search = 0.01\n"
        "[limits.decision]\nusd = 0.5\n[limits.day]\ntokens = 1_000_000\n"
        '[search]\nproviders = ["brave", "ddgs"]\nusd_per_call = {brave = 0.005}\n'
    )
    terms = recipe.bots[0].terms
    assert (terms.base_url, terms.credential) == ("http://localhost:8080/v1", "MY_API_KEY")
    assert (terms.input_usd_per_million_tokens, terms.output_usd_per_million_tokens) == (1.25, 10)
    assert terms.usd_per_search == 0.01
    assert terms.knowledge_cutoff == date(2025, 1, 31)
    assert recipe.limits == {"decision": Limits(usd=0.5), "day": Limits(tokens=1_000_000)}
    assert (recipe.search.providers, recipe.search.usd_per_call) == (("brave", "ddgs"), {"brave": 0.005})


def test_a_recipe_says_how_the_models_of_a_bot_answer_what_cached_input_costs_and_what_else_is_sent() -> None:
    said = "temperature = 0\ntop_p = 1\nseed = -5\nreasoning_effort = 'xhigh'\nmax_tokens = 16_000\n"
    bot = parse(AGENT + said).bots[0]
    assert bot.terms.settings == ModelSettings(0.0, 1.0, -5, "xhigh", 16_000)
    assert dict(bot.strategy.arguments) == {"model": "x/y"}
    terms = parse(AGENT + "price_usd_per_million_tokens = {input = 2, output = 10, cached = 0.2}\n").bots[0].terms
    assert terms.cached_usd_per_million_tokens == 0.2
    plain = parse(AGENT).bots[0]
    assert "cached_usd_per_million_tokens" not in bot_as_data(plain)["terms"]
    assert bot_of_data(bot_as_data(plain)).terms == plain.terms
    bot = parse(AGENT + "extra_body = {num_ctx = 32_768, chat = {enable_thinking = false}}\n").bots[0]
    assert json.loads(bot.terms.settings.extra_body or "") == {"num_ctx": 32_768, "chat": {"enable_thinking": False}}
    assert bot_of_data(bot_as_data(bot)).terms == bot.terms


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("temperature = 2.1", "'temperature' in [[bots]] is 2.1; it should be less than or equal to 2"),
        ("temperature = -1", "'temperature' in [[bots]] is -1; it should be greater than or equal to 0"),
        ("temperature = nan", "'temperature' in [[bots]] is nan; it should be a finite number"),
        ('temperature = "cold"', "'temperature' in [[bots]] is 'cold'; it should be a valid number"),
        ("top_p = 0", "'top_p' in [[bots]] is 0; it should be greater than 0"),
        ("top_p = 1.5", "'top_p' in [[bots]] is 1.5; it should be less than or equal to 1"),
        ("max_tokens = 0", "'max_tokens' in [[bots]] is 0; it should be greater than or equal to 1"),
        ("max_tokens = 1.5", "'max_tokens' in [[bots]] is 1.5; it should be a valid integer"),
        ("seed = true", "'seed' in [[bots]] is True; it should be a valid integer"),
        ("seed = 9223372036854775808", "a number is beyond 64 bits"),
        ('reasoning_effort = "hihg"', "'reasoning_effort' in [[bots]] is 'hihg'. Did you mean 'high'?"),
        ("extra_body = {n = 5}", "'extra_body' in [[bots]] is {'n': 5}; 'n' is set by predibot or changes what an"),
        ("extra_body = {max_new_tokens = 5}", "'extra_body' in [[bots]] is {'max_new_tokens': 5}; 'max_new_tokens' is"),
        *[
            (
                f"extra_body = {{{name} = true}}",
                f"'extra_body' in [[bots]] is {{'{name}': True}}; '{name}' is set by predibot or changes what an",
            )
            for name in ("enable_search", "search_parameters", "web_search", "search_options", "web_search_options")
        ],
        (f"extra_body = {{a = '{2000 * 'x'}'}}", "'extra_body' in [[bots]] is {'a': 'xx"),
        ("extra_body = {a = nan}", "'extra_body' in [[bots]] is nan; it should be a finite number"),
        ("extra_body = 5", "'extra_body' in [[bots]] is 5; it should be a valid dictionary"),
        ("temprature = 1", "unknown key 'temprature' in [[bots]]. Did you mean 'temperature'?"),
    ],
)
def test_a_setting_out_of_its_range_is_refused_with_its_line(stated: str, said: str) -> None:
    assert f"runs/x.toml, line 4: {said}" in mistake(AGENT + stated)


def test_a_setting_of_a_bot_without_a_model_is_refused() -> None:
    assert "line 3: strategy 'market_price' asks no model, so 'top_p' changes nothing" in mistake(BOT + "top_p = 1")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('cron = "5 12 * *"', "line 4: 'cron' in [schedule]: '5 12 * *' has 4 fields; write five: minute, hour"),
        ('cron = "5 12 31 feb *"', "line 4: 'cron' in [schedule]: '5 12 31 feb *' names a day that no year has"),
        ('at = ["12:05", "24:00"]', "line 4: 'at' in [schedule]: '24:00' is no time of a day; write one such as"),
        ("at = []", "line 4: 'at' in [schedule] is []; write a time such as \"12:05\", or a list of 1 to 100"),
        ("at = [5]", "line 4: 'at' in [schedule] is [5]; write a time such as"),
        ('timezone = "UTC"', "line 3: 'at' in [schedule]: say when, by either cron ="),
        ('at = "12:05"\ncron = "5 12 * * *"', "line 5: 'cron' in [schedule]: say when, by either cron ="),
        ('at = "12:05"\ntimezone = "Mars"', "line 5: 'timezone' in [schedule]: 'Mars' is no time zone that this"),
        ('at = "12:05"\ntimezone = "../../etc/passwd"', "line 5: 'timezone' in [schedule]: "),
        ('at = "12:05"\njitter = "6h"', "line 5: 'jitter' in [schedule]: it must be shorter than catch_up"),
        ('at = "12:05"\ncatch_up = "6"', "line 5: 'catch_up': "),
        ('at = "12:05"\ncatchup = "6h"', "line 5: unknown key 'catchup' in [schedule]. Did you mean 'catch_up'?"),
    ],
)
def test_a_schedule_that_is_none_is_told_with_its_line(table: str, said: str) -> None:
    assert f"runs/x.toml, {said}" in mistake(f"{BOT}[schedule]\n{table}")


def test_a_schedule_is_no_part_of_what_a_recipe_is() -> None:
    plain, scheduled = parse(BOT), parse(f'{BOT}[schedule]\nat = ["08:00", "20:00"]\ncatch_up = "3h"\njitter = "5m"')
    assert (plain.schedule, plain.digest, plain) == (None, scheduled.digest, scheduled)
    assert scheduled.schedule is not None
    assert (scheduled.schedule.deadline, scheduled.schedule.track_every) == (timedelta(hours=3), timedelta(hours=4))
    assert len(list(scheduled.schedule.slots(NOW, NOW + timedelta(days=1)))) == 2


@pytest.mark.parametrize("replicates", ["0", "21", '"3"', "true"])
def test_replicates_are_a_whole_number_up_to_twenty(replicates: str) -> None:
    said = mistake(f'[[bots]]\nstrategy = "random_bet"\nreplicates = {replicates}')
    assert said.startswith("runs/x.toml, line 3: 'replicates' in [[bots]] is")


def test_replicates_are_bots_that_differ_in_their_names_alone_and_are_chosen_together() -> None:
    text = '[[bots]]\nname = "x"\nstrategy = "random_bet"\nreplicates = 3\n[[bots]]\nstrategy = "market_price"'
    recipe = parse(text)
    assert [bot.name for bot in recipe.bots] == ["x#1", "x#2", "x#3", "market_price"]
    assert recipe.bots[0].strategy == recipe.bots[2].strategy
    assert [bot.name for bot in recipe.with_overrides(bots=["x", "x#2"]).bots] == ["x#1", "x#2", "x#3"]
    assert Recipe.from_json(recipe.as_json()).bots[1] == recipe.bots[1]
    line = '[[bots]]\nname = "x"\nstrategy = "random_bet"\nreplicates = {}\n'
    assert "two bots are named 'x'" in mistake(line.format(2) + line.format(1))
