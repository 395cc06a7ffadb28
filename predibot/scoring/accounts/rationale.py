"""Rationales: which of position, price history and news a bot names as its reasons, found by rules."""

import re
import reprlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from predibot.scoring.arguments import instance_of
from predibot.scoring.metrics.agreement import cohen_kappa

Factor = str
FACTORS: tuple[Factor, ...] = ("position", "price_history", "news")
"""What a rationale may refer to, as in LiveTradeBench (arXiv 2511.03628, section 5.4)."""

_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NEAR = 60
"""So many characters before a phrase are read for a denial, and twice as many behind it."""
_MOVED = r"(?:risen|rose|fell|fallen|dropped|climbed|jumped|rallied|declined|drifted|moved|slid|slipped|surged|spiked|sank|soared|plunged|doubled|halved|tripled|run|ran|gained|lost|budged|reacted|recovered|bounced|tumbled|faded|widened|narrowed|tightened|swung)"  # noqa: E501
_PHRASES: Mapping[Factor, tuple[str, ...]] = MappingProxyType(
    {
        "position": (
            r"(?:current|existing|my|our|previous|prior|open|remaining|earlier)\s+(?:\w+\s+)?(?:positions?|holdings?"
            r"|allocations?|portfolio|exposure|shares?|cash|weights?|stakes?|book|lots?|account|basis|bankroll|bags?)",
            r"(?:already|currently)\s+(?:hold|own|invested|allocated|long|short|in\b|carry|carrying|exposed|heavy)\w*",
            r"(?:we|i)\s+(?:still\s+|already\s+)?(?:hold|own|carry|held|owned)\b(?!\s+(?:that|the\s+view|it\s+(?:likely|un)))",
            r"(?:we\s+are|i\s+am|i'm|we're)\s+(?:still\s+|already\s+|now\s+)?(?:long|short|up|down|flat|fully\s+invested"
            r"|overweight|underweight|sitting\s+on)\b",
            r"what\s+(?:we|i)\s+(?:have|had|own|owned|hold|held)|(?:this|that|the)\s+(?:holding|lot|stake|position)\b"
            r"|(?:positions?|holdings?|stakes?|exposure|weights?)\b[^.;]{0,40}\b(?:maintained|kept|retained|held|trimmed|stays?)",
            r"positions?\s+(?:held|size|is|are|was|were|opened|has|have)|unreali[sz]ed|rebalanc\w+|in\s+the\s+book\b",
            r"(?:maintain|keep|kept|increas|reduc|add|rais|cut|trim|exit|unwind|clos|hold|shed|lighten|defend|retain)"
            r"(?:ed|d|s|ing|e|es|ming|med|ting)?\s+(?:on\s+to\s+|to\s+|out\s+of\s+)?(?:\w+\s+){0,3}?(?:positions?|exposure"
            r"|holdings?|stakes?|cash|winners?|losers?|weights?|shares|allocations?|bets?|lots?)\b",
            r"(?:rais\w+|kept|keep\w*|increas\w+|reduc\w+|cut|trimm\w+|lower\w*|lift\w*)\s+(?:\w+\s+){0,2}?(?:at|from)\s+"
            r"(?:\d|a\s+\w+\s+to)",
            r"cash\s+(?:reserves?|balance|buffer|positions?|pile|cushion|on\s+hand|left)|dry\s+powder"
            r"|(?:spare|free|leftover|remaining|remainder)\b[^.;]{0,20}\bcash",
            r"(?:entry|purchase|cost)\s+(?:price|basis)|average\s+(?:cost|down|up)\b|account\s+value|(?:was|were)\s+opened"
            r"|where\s+(?:we|i)\s+(?:got|came|bought)\s+in|bought\s+(?:in\s+\w+|at|earlier|last|yesterday)",
            r"tied\s+up|no\s+room|room\s+(?:for|left)|budget\s+(?:left|remains|is\s+(?:used|spent|nearly))|let\s+it\s+ride"
            r"|off\s+the\s+table|(?:drawdown|risk|loss)\s+(?:budget|limit)|of\s+the\s+account\b|stop[- ]loss",
            r"(?:weights?|allocations?|sizing|mix)\s+(?:as\s+(?:before|yesterday)|unchanged|stays?|remains?)"
            r"|same\s+(?:weights?|allocation|mix)\s+as",
            r"(?:kept|keep|left|leave|hold|held)\s+(?:everything|all|it|them|things)\s+(?:as\b|unchanged|where)|(?:everything|all)"
            r"\s+(?:stays|remains)|(?:let|letting)\s+(?:\w+\s+){1,3}(?:run|ride)\b|(?:fresh|new)\s+(?:money|cash|capital)|than\s+before\b"
            r"|(?:got|getting|get)\s+in(?:to\s+it)?\s+at\b|(?:trim(?:med|ming)?|lighten(?:ed)?|halve[ds]?)\s+the\s+\w+",
            r"(?:stay|stays|stayed|sits?|remain|remains|wait|waits|parked|kept|keep)\s+(?:\w+\s+)?in\s+cash|(?:on|to)\s+the\s+sidelines?"
            r"|(?:cash|small|liquid|safety)\s+(?:reserve|buffer|share|cushion)|reserve\s+for\b",
            r"(?:grown|grew|swollen|shrunk|drifted)\s+to\s+(?:\w+\s+){1,3}of\s+the\s+(?:book|portfolio|account)"
            r"|\d[\d,.]*\s+(?:yes\s+|no\s+)?shares\b|(?:yes|no)\s+shares\s+(?:bought|held|from)|(?:over|under)weight\s+in\b"
            r"|of\s+(?:the|our|my)\s+(?:money|book)\s+(?:already\s+)?(?:is\s+)?in\b|(?:frees?|freeing)\s+(?:up\s+)?(?:money|cash|funds)",
        ),
        "price_history": (
            r"(?:price|odds|quote)\s+(?:history|trend|movement|momentum|action|change|series|path|jump|drop|move|swing|rise"
            r"|fall|decline|spike)s?",
            r"(?<!earnings )(?<!campaign )(?<!political )(?<!polling )momentum"
            r"(?!\s+(?:in|of|behind|for)\s+(?:the\s+)?(?:campaign|bill|party|race|talks|movement|polls))",
            r"(?:up|down)trend\w*|trend(?:s|ed|ing)?\b|volatil\w+|turbulence|choppy|mean[- ]revert\w*|moving\s+average"
            r"|technicals?\b|charts?\b|higher\s+(?:highs|lows)|lower\s+(?:highs|lows)|sideways|range[- ]bound"
            r"|(?:support|resistance)\s+(?:at|level|near)|defend\w*\s+that\s+level|turnover|thin\s+volume|volume\s+(?:has|rose"
            r"|fell|spike\w*)",
            r"(?:rally|rallies|sell[- ]?off|pull[- ]?back|bounc(?:e|ed|ing)|slides?\b|slump\w*|surge[ds]?|spike[ds]?\b"
            r"|plunge[ds]?|dip\b|dips\b|run[- ]up|breakout|correction\b|rebound\w*|drift(?:ed|ing|s)\b|oversho[ot]+)",
            r"recent\s+(?:price|high|low|move|rise|drop|gain|decline|loss|strength|weakness)(?:s|es)?",
            r"(?:price|prices|odds|market|shares?|stock|contract|line|quote|spread|ticket|it|which)\s+(?:\w+\s+){0,2}?"
            r"(?:(?:has|have|had)\s+)?(?:not\s+|barely\s+|hardly\s+|already\s+)?"
            + _MOVED
            + r"\b(?!\s+(?:support|ground\s+in\s+the\s+polls))",
            r"(?:price|odds|market|shares?|stock|contract|line|quote)\b[^.;]{0,30}\b(?:traded|unchanged|flat|steady|stuck|stable"
            r"|where\s+(?:it|they)\s+(?:was|were))\b",
            r"(?:flat|unchanged|steady|quiet)\s+(?:since|for|all)\b",
            r"(?:traded|trading)\s+(?:near|at|around|between|below|above)\b[^.;]{0,40}\b(?:on|last|since|yesterday|for)\b",
            r"(?:odds|price|prices|quote|it|market|contract)\s+(?:have\s+|has\s+)?(?:run|gone|went|moved)?\s*from\s+[^.;]{1,25}\bto\b",
            r"past\s+(?:\w+\s+)?(?:days?|weeks?|fortnight|month)|last\s+(?:few\s+|two\s+|three\s+|\d+\s+)?(?:days|weeks|sessions)"
            r"|(?:days|weeks|sessions)\s+in\s+a\s+row|historical\s+prices?|every\s+single\s+day",
            r"(?:a|significant|sharp|big|sudden)\s+(?:price\s+)?(?:jump|drop|move|fall)\s+(?:to|of|in|from)\b"
            r"|there\s+was\s+a\s+(?:jump|drop|spike)",
            r"(?:has|have|had)\s+(?:\w+ly\s+|already\s+|not\s+)?(?:climbed|risen|fallen|dropped|declined|slid|slipped|rallied|surged|soared"
            r"|plunged|tumbled|crept|drifted|doubled|tripled|halved|outrun|outperformed|underperformed|lagged|sold\s+off)\b"
            r"|(?:gave|given|giving)\s+back\b|(?:sold|selling)\s+off\b|crept\b|falling\s+knife",
            r"\b(?:up|down|gained|lost|higher|lower)\s+(?:by\s+)?(?:\w+|\d[\d.]*)\s*(?:%|percent\b|points\b|cents\b)[^.;]{0,30}?\b"
            r"(?:since|over|within|(?:this|last|in\s+an?)\s+(?:session|day|week|month|quarter|year|fortnight))\b|(?:lower|higher)\s+(?:low|high)\b"
            r"|(?:sessions|days|weeks)\s+(?:out\s+of|running|in\s+a\s+row)|it\s+went\s+(?:to|from)\s+\d|now\s+(?:quoted|trades?|at)\b",
        ),
        "news": (
            r"news\b|headlines?|articles?\b|reports?\b(?!\s+earnings\s+on)|reported(?:ly)?|announce\w*|according\s+to|press\b"
            r"|coverage|statements?\b|journalists?|media\b|rumou?rs?\b|leak(?:s|ed)\b|interviews?\b|tweet\w*|developments?\b",
            r"\b(?:polls?|surveys?|pollsters?)\s+(?:\w+\s+){0,3}?(?:show\w*|have|has|put|say|out|give|this|released|from|suggest\w*)",
            r"(?:analysts?|broker\w*)\s+(?:\w+\s+)?(?:sentiment|rating\w*|upgrade\w*|downgrade\w*|expect\w*|rais\w*|cut\w*|say|note\w*)"
            r"|upgrade[ds]?\b|downgrade[ds]?\b|guidance"
            r"|(?<!times )(?<!of )earnings\b(?!\s+(?:date|are\s+due|due|season|per\s+share|on))|quarterly\s+results"
            r"|(?:beat|missed)\s+(?:what|estimates|expectations|forecasts|consensus)|number\s+missed|jobs\s+number",
            r"(?:quit|resigned|stepped\s+down|confirmed|denied|reaffirmed|endors\w+|indict\w+|charged|acquitted|convicted|vetoed"
            r"|ruled\s+(?:out|that|against|in)|sued|signed|withdrew|dropped\s+(?:out|\w+\s+of|the\s+(?:case|charges|bid))|postponed"
            r"|cancell?ed|scratched|injured|hospitali[sz]ed|fired|sacked|appointed|nominated\s+\w+\s+(?:on|yesterday)|launched|recalled"
            r"|settled\s+out\s+of|filed\s+(?:for|suit)|unveiled|agreed|hinted|testified|stated|warned|told\s+\w+|visited|met\s+with"
            r"|are\s+in\s+favou?r|broke\s+(?:down|off)|struck\s+(?:a|down)|passed\s+(?:the\s+(?:house|senate)|committee)|hardened)\b",
            r"(?:is|are|was|were)\s+(?:forecast|predicted|expected)\s+(?:\w+\s+){0,4}?by\b|weather\s+service|press\s+conference"
            r"|(?:minister|official|spokes\w+|ceo|company|court|judge|government|ministry|campaign|union|team|coach|agency)s?\s+(?:\w+\s+)?"
            r"(?:said|says|told|plans|confirmed|approved|rejected)|(?:was|were|is)\s+said\s+to\b(?!\s+be\s+close)",
            r"(?:he|she|they|(?:her|his|their|its|the)\s+\w+)\s+(?:said|says)\b|came\s+in\s+(?:\w+er\b|above|below|at)"
            r"|called\s+off|(?!traded|moved|dropped|climbed|jumped|rallied|declined|drifted|slipped|closed|opened|surged|spiked|priced)"
            r"\w{3,}ed\b[^.;,]{0,40}\b(?:yesterday|overnight|this\s+(?:morning|weekend)|(?:on\s+)?" + _DAYS + ")",
            r"donations?\b|court\s+(?:ruling|filing|decision)|ruling\b|verdict\b|injury\b|injuries\b|strikes?\s+(?:on|against)"
            r"|talks\s+(?:in|with|between|have|broke|are)|ceasefire\s+(?:deal|talks)|recent\s+(?:diplomatic|political|legal)",
            r"(?:remarks|comments|testimony|speech)\b|(?:hawkish|dovish|conciliatory|sharp)\s+(?:tone|words|signals?)"
            r"|(?:probe|investigation|inquiry|lawsuit|indictment|raid|outage|scandal|walkout)s?\s+(?:by|into|against|of|at)\b|after\s+the\s+\w+"
            r"\s+(?:on|against|in|of)\b|(?:every|each|all|latest|recent|new)\s+(?:\w+\s+)?(?:polls?|surveys?)\b",
            r"(?:threw|thrown)\s+(?:\w+\s+){0,3}?out\b|(?:beat|missed)\s+on\b|guided\s+(?:up|down|above|below)|(?:raised|cut|lowered)"
            r"\s+(?:its|their|the)\s+(?:\w+\s+)?(?:outlook|forecast|targets?|spending)|(?:won|lost)\s+(?:both|all|the|his|her|its|their)\b"
            r"|(?:has|have|had|was|were|been)\s+(?:\w+\s+)?(?:struck|hit|killed|arrested|released|published|elected|ousted|hurt|leaked)\b",
        ),
    }
)
_RULES: Mapping[Factor, re.Pattern[str]] = MappingProxyType(
    {factor: re.compile(rf"\b(?:{'|'.join(found)})", re.IGNORECASE) for factor, found in _PHRASES.items()}
)
_DENIED_BEFORE = re.compile(
    r"(?:\b(?:no|not|never|without|neither|nor|nothing(?:\s+\w+)?|lack(?:s|ing)?(?:\s+of)?|absence\s+of|ignor\w+|regardless\s+of"
    r"|irrespective\s+of|disregard\w*|discount\w*|rather\s+than|instead\s+of|less\s+than|any)|n't)\s+(?:\w+\s+){0,3}$"
    r"|\b(?:not|nothing)\s+(?:because\s+of|by|on|from|in)\s+(?:\w+\s+){0,3}$",
    re.IGNORECASE,
)
_IMAGINED_BEFORE = re.compile(
    r"\b(?:if|should|unless|until|whatever|whenever|would\s+(?:need|take|change)|in\s+case|wait(?:ing)?\s+for|may|might|could)\b"
    r"[^.;:!?]{0,40}$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"^[^.;!?]{0,70}?\b(?:there\s+(?:is|are)\s+none|(?:is|are|was|were)\s+(?:irrelevant|ignored|missing|absent|stale|old\s+and|beside\s+the"
    r"|noise|not\s+(?:\w+\s+){0,2}?(?:relevant|used|considered|something|a\s+factor|decisive))|chang\w+\s+nothing|do(?:es)?\s+not\s+"
    r"(?:matter|count|enter)|play\w*\s+no\s+(?:role|part)|i\s+ignore|(?:we|i)\s+(?:do\s+not|don't)\s+(?:use|look|weigh))",
    re.IGNORECASE,
)


def factors_named(rationale: str) -> frozenset[Factor]:
    """Return the factors that a rationale refers to, by rules on its English words; several, one, or none.

    A factor that is named only to deny it ("no news") or to imagine it ("if news came") does not count.

    Raises:
        ValueError: If it is no text.

    Examples:
        >>> sorted(factors_named("News of a deal, and the price has risen over the past week."))
        ['news', 'price_history']
        >>> factors_named("There is no news.")
        frozenset()
    """
    instance_of("rationale", rationale, str)
    return frozenset(
        factor for factor, rule in _RULES.items() if any(_is_affirmed(rationale, at) for at in rule.finditer(rationale))
    )


def shares_of_factors(named: Sequence[Collection[Factor]]) -> Mapping[Factor, float]:
    """Return the share of rationales that refer to each factor; they may add up to more than one.

    Raises:
        ValueError: If there is no rationale, or one names what is no factor.

    Examples:
        >>> shares_of_factors([{"news"}, {"news", "position"}])["news"]
        1.0
    """
    if not isinstance(named, list | tuple) or not named:
        raise ValueError(f"named is {reprlib.repr(named)}; give the factors of at least one rationale")
    for row, each in enumerate(named):
        if not isinstance(each, set | frozenset | list | tuple) or any(factor not in FACTORS for factor in each):
            raise ValueError(f"named[{row}] is {reprlib.repr(each)}; give some of {', '.join(FACTORS)}")
    return {factor: sum(factor in each for each in named) / len(named) for factor in FACTORS}


@dataclass(frozen=True, slots=True)
class FactorShares:
    """How often rationales refer to each factor, by rules and as a model reads them."""

    n: int
    by_rules: Mapping[Factor, float]
    """Empty without any rationale, as the next two are without any that a model read."""
    judged: int
    by_judge: Mapping[Factor, float]
    kappa: Mapping[Factor, float | None]
    """Cohen's kappa of rules and model over what the model read; None where both always say the same."""


def factor_shares(read: Sequence[tuple[frozenset[Factor], frozenset[Factor] | None]]) -> FactorShares:
    """Return the shares of factors in rationales.

    `read` has the factors of each rationale by rules, and by a model where one read it, else None. Raises `ValueError`
    for an unknown factor.

    Examples:
        >>> found = factor_shares([(frozenset({"news"}), frozenset({"news"})), (frozenset(), None)])
        >>> found.by_rules["news"], found.by_judge["news"], found.judged
        (0.5, 1.0, 1)
    """
    both = [(rules, model) for rules, model in read if model is not None]
    return FactorShares(
        len(read),
        shares_of_factors([rules for rules, _ in read]) if read else {},
        len(both),
        shares_of_factors([model for _, model in both]) if both else {},
        {
            factor: cohen_kappa([factor in rules for rules, _ in both], [factor in model for _, model in both])
            for factor in (FACTORS if both else ())
        },
    )


def _is_affirmed(text: str, found: re.Match[str]) -> bool:
    """Return whether a phrase is neither denied, within its sentence, nor only imagined."""
    before, after = text[max(0, found.start() - _NEAR) : found.start()], text[found.end() : found.end() + 2 * _NEAR]
    return not (_DENIED_BEFORE.search(before) or _IMAGINED_BEFORE.search(before) or _DENIED_AFTER.search(after))
