"""The vocabulary of the sandbox's questions: invented places, parties, teams, films and quantities."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something with a level on a date, such as an index or a temperature."""

    phrase: str
    base: float
    step: float
    form: str
    """A format string for a level."""


@dataclass(frozen=True, slots=True)
class Category:
    """A field of questions."""

    share: float
    """The share of all events, in [0, 1]."""
    tags: tuple[tuple[str, str], ...]
    """Label and slug of each tag."""
    fee_rate: float
    singles: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    contests: tuple[tuple[str, str, str], ...] = ()
    """(title, question about a contender, name of the list of contenders)."""


WORDS: Mapping[str, tuple[str, ...]] = {
    "country": (
        "Valdoria", "Kestrel Republic", "Ostmark Isles", "Northern Maravia", "Tarsenia", "Belgrave Union",
        "Lower Cyrenia", "Sundara", "Ilvermark", "Port Amaranth", "Quessant", "Halverland",
    ),
    "city": (
        "Ashmere", "Port Linnet", "Calderon Bay", "Skarholm", "Vetrano", "Mirrowdale", "Duncastle", "Oranto",
        "Silverquay", "Hollinsford", "Teyra", "Bramstead",
    ),
    "team": (
        "Ashmere Herons", "Skarholm Union", "Vetrano Lions", "Duncastle Rovers", "Oranto Comets", "Teyra Athletic",
        "Port Linnet Gulls", "Bramstead Town", "Silverquay Foxes", "Calderon Kings", "Mirrowdale Storm",
        "Hollinsford City", "Netherlands Select", "Tarsenia Wolves",
    ),
    "party": (
        "Civic Alliance", "Green Front", "National Labour", "Liberal Centre", "People's Union", "Reform List",
        "Farmers' League", "New Democrats", "Harbour Party", "Unity Bloc", "Progress Now", "Conservative Union",
    ),
    "film": (
        "The Glass Harbour", "Second Winter", "Paper Lanterns", "A Quiet Orbit", "Saltwater", "Nine Bridges",
        "The Last Ferry", "Marigold Street", "Iron Meadow", "The Cartographer", "Low Tide", "Northbound",
    ),
    "lab": ("Corvid Labs", "Lumen Systems", "Halcyon AI", "Tessera", "Bluefin Research", "Meridian Compute"),
    "bill": ("housing bill", "water act", "pension reform", "budget", "rail charter", "data protection act"),
    "treaty": ("Ashmere accord", "Straits treaty", "fisheries pact", "northern border agreement"),
    "index": ("Kestrel 500", "Ashmere 30", "Valdoria Composite", "Harbour Index"),
    "coin": ("Bitcoin", "Ethereum", "Solana", "XRP", "Dogecoin"),
    "project": ("Lanternfish", "Obsidian", "Pebblenet", "Quartzlink", "Riverchain"),
}  # fmt: skip

CATEGORIES: Mapping[str, Category] = {
    "politics": Category(
        share=0.20,
        tags=(("Politics", "politics"), ("World Elections", "world-elections")),
        fee_rate=0.04,
        singles=(
            "Will the parliament of {country} pass the {bill} by {date}?",
            "Will {country} call a snap election by {date}?",
            "Will the {party} be part of the next government of {country} by {date}?",
        ),
        quantities=(
            Quantity("the approval rating of the {country} government", 42.0, 1.0, "{:.0f}%"),
            Quantity("the {party} poll average in {country}", 24.0, 0.5, "{:.1f}%"),
        ),
        contests=(
            (
                "Which party wins the most seats in the {country} election?",
                "Will the {contender} win the most seats in the {country} election?",
                "party",
            ),
        ),
    ),
    "sports": Category(
        share=0.22,
        tags=(("Sports", "sports"), ("Games", "games")),
        fee_rate=0.03,
        singles=("{team} vs. {rival} on {date}", "Will the {team} win at home against the {rival} on {date}?"),
        quantities=(
            Quantity("the season points average of the {team}", 104.0, 1.0, "{:.0f}"),
            Quantity("the league points of the {team}", 40.0, 2.0, "{:.0f}"),
        ),
        contests=(
            ("Who wins the {city} Cup?", "Will the {contender} win the {city} Cup?", "team"),
            ("Winner of the {country} championship?", "Will the {contender} win the {country} championship?", "team"),
        ),
    ),
    "economics": Category(
        share=0.16,
        tags=(("Economy", "economy"), ("Business", "business")),
        fee_rate=0.05,
        singles=(
            "Will the central bank of {country} cut its rate by {date}?",
            "Will {country} report a budget surplus by {date}?",
        ),
        quantities=(
            Quantity("the {index}", 4200.0, 50.0, "{:,.0f}"),
            Quantity("annual inflation in {country}", 2.6, 0.1, "{:.1f}%"),
            Quantity("a litre of petrol in {city}", 1.70, 0.02, "${:.2f}"),
        ),
    ),
    "culture": Category(
        share=0.12,
        tags=(("Culture", "pop-culture"), ("Movies", "movies")),
        fee_rate=0.05,
        singles=(
            'Will "{film}" be shown in {city} by {date}?',
            'Will "{film}" be nominated for the {city} prize by {date}?',
        ),
        quantities=(
            Quantity('the total gross of "{film}"', 60.0, 5.0, "${:.0f}m"),
            Quantity('the critics\' score of "{film}"', 71.0, 1.0, "{:.0f}"),
        ),
        contests=(("Best film at the {city} festival?", 'Will "{contender}" win at the {city} festival?', "film"),),
    ),
    "weather": Category(
        share=0.10,
        tags=(("Weather", "weather"), ("Science", "science")),
        fee_rate=0.05,
        singles=("Will it snow in {city} by {date}?", "Will a storm be named over {country} by {date}?"),
        quantities=(
            Quantity("the highest temperature in {city}", 11.0, 1.0, "{:.0f}°C"),
            Quantity("the year's rainfall in {city}", 60.0, 10.0, "{:.0f} mm"),
        ),
    ),
    "tech": Category(
        share=0.06,
        tags=(("Tech", "tech"), ("AI", "ai")),
        fee_rate=0.04,
        singles=("Will {lab} release a new model by {date}?", "Will {lab} open an office in {city} by {date}?"),
        quantities=(Quantity("the arena score of the best {lab} model", 1420.0, 10.0, "{:.0f}"),),
        contests=(("Which company has the best model?", "Will {contender} have the best model?", "lab"),),
    ),
    "geopolitics": Category(
        share=0.04,
        tags=(("Geopolitics", "geopolitics"), ("World", "world")),
        fee_rate=0.0,
        singles=("Will {country} sign the {treaty} by {date}?", "Will {country} reopen its embassy by {date}?"),
        quantities=(Quantity("the number of signatories of the {treaty}", 21.0, 1.0, "{:.0f}"),),
    ),
    "crypto": Category(
        share=0.10,
        tags=(("Crypto", "crypto"), ("Crypto Prices", "crypto-prices")),
        fee_rate=0.07,
        singles=("Will {coin} reach a new high by {date}?", "Will {project} perform an airdrop by {date}?"),
        quantities=(
            Quantity("the price of Bitcoin", 92000.0, 2000.0, "${:,.0f}"),
            Quantity("the price of Ethereum", 3100.0, 100.0, "${:,.0f}"),
            Quantity("the {project} token FDV", 500.0, 50.0, "${:,.0f}M"),
        ),
    ),
}
