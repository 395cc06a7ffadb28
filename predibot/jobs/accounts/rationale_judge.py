"""A judge of rationales: a model that reads which factors each refers to, beside the rules."""

import json
from dataclasses import dataclass

from predibot.agents.budget.budget import Budget
from predibot.agents.models.metered import MeteredModel
from predibot.agents.models.open_model import open_model, worst_price
from predibot.agents.models.retry import Retry
from predibot.agents.prompts.untrusted_text import Fence
from predibot.config import Settings
from predibot.contracts import untrusted_mark
from predibot.domain.budget import Limits
from predibot.domain.chat import ChatRequest, Message
from predibot.environment import api_bases, api_keys, secrets_present
from predibot.errors import BudgetSpent, UsageError
from predibot.net.api_keys import ApiKeys
from predibot.scoring.accounts.rationale import FACTORS, Factor

_ANSWER_TOKENS = 1_000
_DEADLINE_SECONDS = 120.0
_MAX_RATIONALE_CHARACTERS = 8_000
_PROMPT = """A trader divided money between prediction markets and said why. Which of these does the text say the \
decision rests on? Several may fit, or none; what is named only to say that there is none does not count.

- position: what is held already, its cost, its gain or loss, the cash
- price_history: how prices moved before, trends, volatility
- news: what was reported about the events

{rationale}

Answer with one JSON object and nothing else, such as {{"factors": ["news"]}}."""


@dataclass(slots=True)
class RationaleJudge:
    """Asks a model about one rationale after the other, within a limit in dollars."""

    model: MeteredModel
    budget: Budget
    asked: int = 0
    unread: int = 0
    not_asked: int = 0

    def __call__(self, rationale: str) -> frozenset[Factor] | None:
        """Return the factors in a rationale; None where the model was not asked or its answer is unreadable."""
        fence = Fence(untrusted_mark())
        prompt = _PROMPT.format(rationale=fence.around(rationale, _MAX_RATIONALE_CHARACTERS))
        request = ChatRequest((Message("user", prompt),), max_output_tokens=_ANSWER_TOKENS, temperature=0.0)
        try:
            reply = self.model.chat(request, deadline_seconds=_DEADLINE_SECONDS)
        except BudgetSpent:
            self.not_asked += 1
            return None
        self.asked += 1
        found = _parse_factors(reply.message.text or "")
        self.unread += found is None
        return found

    @property
    def cost_usd(self) -> float:
        """Return the cost so far, with a lost answer at its worst case."""
        return self.budget.spent().usd


def open_judge(model: str, *, most_usd: float, settings: Settings) -> RationaleJudge:
    """Return a judge by a model as litellm names it.

    Raises `UsageError` if its price is unknown: no limit would hold.
    """
    price = worst_price(model, price=None)
    if price is None:
        raise UsageError(f"--judge {model}: what it costs is unknown, so that no limit holds. Take one with a price")
    keys = ApiKeys(api_keys(), settings.key_hosts, api_bases(), secrets_present())
    budget = Budget.of("run", Limits(usd=most_usd))
    return RationaleJudge(MeteredModel(open_model(model, keys=keys, retry=Retry()), budget, price), budget)


def _parse_factors(text: str) -> frozenset[Factor] | None:
    begins, ends = text.find("{"), text.rfind("}")
    try:
        factors = json.loads(text[begins : ends + 1])["factors"]
        return frozenset(factors) if set(factors) <= set(FACTORS) and isinstance(factors, list) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
