"""The best and worst decisions, for a screen and for JSON."""

from collections.abc import Sequence

from rich.console import Console

from predibot.jobs.worst_decisions import WorstDecision
from predibot.reports import figures
from predibot.reports.table import Document, document, under
from predibot.reports.terminal.terminal import plain, print_line

_QUESTION_CELLS = 160
_RATIONALE_CELLS = 400


def print_worst(console: Console, worst: Sequence[WorstDecision], *, best: bool = False) -> None:
    """Print the worst, or best, decisions: question, price, forecast, bet, outcome and rationale of each."""
    console.print()
    if not worst:
        print_line(console, f"No bet {'gained' if best else 'lost'} money.")
        return
    done = "brought" if best else "cost"
    print_line(console, f"The decisions that {done} most, at the mid, by the payout or the last price", "bold")
    for place, each in enumerate(worst, start=1):
        print_line(
            console, f"{place}. {plain(each.loss.bot)} {figures.gain_usd(each.loss.gain_usd)}: {question_of(each)}"
        )
        print_line(console, f"   {circumstances(each)}")
        print_line(console, f"   why: {plain(each.reason.rationale, _RATIONALE_CELLS) or figures.MISSING}", "dim")


def circumstances(each: WorstDecision) -> str:
    """Return instant, price, forecast, bet and outcome of a decision."""
    loss = each.loss
    side = "YES" if loss.bet_usd > 0.0 else "NO"
    price = figures.probability(loss.later_price_yes)
    paid = {1.0: "YES", 0.0: "NO"}.get(loss.later_price_yes, f"paid {price}")
    outcome = paid if loss.paid else f"open at {price}"
    return (
        f"{figures.instant(each.decided_at)} price {figures.probability(loss.price_yes)}, "
        f"forecast {figures.probability(loss.probability)}, {figures.usd(abs(loss.bet_usd))} on {side}, "
        f"outcome {outcome}"
    )


def worst_documents(worst: Sequence[WorstDecision]) -> list[Document]:
    """Return them as JSON has them, texts whole."""
    loss = under("loss", "gain_usd bet_usd price_yes probability later_price_yes paid")
    reason = under("reason", "run event_id title question")
    return [document(each, f"bot=loss.bot {reason} decided_at {loss} rationale=reason.rationale") for each in worst]


def question_of(each: WorstDecision) -> str:
    """Return the question, or the title of the event where a market has none."""
    return plain(each.reason.question, _QUESTION_CELLS) or plain(each.reason.title, _QUESTION_CELLS)
