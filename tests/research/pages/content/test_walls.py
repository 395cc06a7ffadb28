"""Walls: what a page asks for first is no text of it, and what a readable page has beside its text is no wall."""

import time

import pytest

from predibot.research.pages.content.walls import wall_of
from predibot.research.pages.errors import Obstacle
from predibot.research.pages.html_text import main_text
from tests.soaks import one_in

ARTICLE = (
    "<p>The Senate passed the budget on Friday with 54 votes after a recount of all ballots, its clerk said.</p>"
    "<p>Two members abstained, and the president is expected to sign the bill next week in the capital.</p>"
)
LOCKED = '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": false}</script>'


def wall(body: str, title: str = "Budget") -> Obstacle | None:
    html = f"<html><head><title>{title}</title></head><body>{body}</body></html>"
    return wall_of(html, main_text(html, "http://www.news.example/budget"))


@pytest.mark.parametrize(
    ("kind", "body", "title"),
    [
        ("NEEDS_SCRIPT", "<div id=app></div><noscript>This app needs JavaScript to run.</noscript>", "Poll tracker"),
        ("NEEDS_SCRIPT", "<ul><li>Home<li>Sport</ul><p>JavaScript is disabled in your browser.</p>", "Odds"),
        ("NEEDS_SCRIPT", "<noscript>Bitte aktivieren Sie JavaScript.</noscript>", "Umfragen"),
        ("NEEDS_SCRIPT", "<noscript>このサイトではJavaScriptを有効にしてください。</noscript>", "世論調査"),
        ("NEEDS_SCRIPT", "<header><a>Sign in</a></header><ul><li>Home<li>World</ul><div id=root></div>", "Odds"),
        ("ROBOT_CHECK", "<p>Checking your browser before you go on. Ray ID: 8a</p>", "Just a moment..."),
        ("ROBOT_CHECK", "<p>Please enable JS and disable any ad blocker</p>", "news.example"),
        ("ROBOT_CHECK", "<h1>Press & Hold to confirm you are a human (and not a bot).</h1>", "Access denied"),
        ("ROBOT_CHECK", "<form><p>Solve the captcha to go on.</p><button>Go</button></form>", "news.example"),
        ("ROBOT_CHECK", "<p>Our systems have detected unusual traffic from your network.</p>", "Sorry"),
        (
            "CONSENT",
            "<h1>Before you go on</h1><p>We use cookies and data to keep our services running and to measure how you "
            "use them.</p><p>If you agree, we and our 214 partners will also use cookies to show you what we like."
            "</p><button>Reject all</button><button>Accept all</button>",
            "News",
        ),
        (
            "CONSENT",
            "<p>Wir brauchen Ihre Einwilligung, um Ihnen diese Seite mit Cookies zu zeigen.</p><p>Mit Ihrer Zustimmung "
            "verarbeiten wir Ihre Daten.</p><button>Akzeptieren</button>",
            "Nachrichten",
        ),
        ("CONSENT", "<form><p>We value your privacy and use cookies.</p><button>I agree</button></form>", "News"),
        (
            "SUBSCRIPTION",
            "<article><p>The Senate is expected to</p></article><p>Subscribe to keep reading.</p>",
            "Budget",
        ),
        ("SUBSCRIPTION", f"<article>{ARTICLE}<p>This post is for paid subscribers</p></article>", "Budget"),
        (
            "SUBSCRIPTION",
            f"<article><p>The Senate is expected to</p></article><p>Subscribe for $1.</p>{LOCKED}",
            "Budget",
        ),
        ("SUBSCRIPTION", f"<article><p>The Senate is expected to</p></article>{LOCKED}", "Budget"),
        ("SUBSCRIPTION", "<p>Le Sénat a voté.</p><p>La suite est réservée aux abonnés.</p>", "Budget"),
        ("SUBSCRIPTION", "<p>Der Senat hat entschieden.</p><p>Nur für Abonnenten.</p>", "Haushalt"),
        ("SUBSCRIPTION", "<h1>Sign in to view this profile</h1>", "Senator"),
        ("SUBSCRIPTION", "<p>Senat przyjął ustawę.</p><p>Artykuł dostępny dla prenumeratorów.</p>", "Budżet"),
        ("SUBSCRIPTION", "<p>Riksdagen röstade ja.</p><p>Logga in för att läsa vidare.</p>", "Budget"),
        ("SUBSCRIPTION", "<p>Folketinget stemte ja.</p><p>Artiklen er kun for abonnenter.</p>", "Budget"),
        ("SUBSCRIPTION", "<p>Stortinget vedtok.</p><p>Logg inn for å lese videre.</p>", "Budsjett"),
        ("SUBSCRIPTION", "<p>Eduskunta hyväksyi.</p><p>Tilaa ja jatka lukemista.</p>", "Budjetti"),
        ("SUBSCRIPTION", "<p>Senato onayladı.</p><p>Bu içerik yalnızca abonelere açıktır.</p>", "Bütçe"),
        ("ROBOT_CHECK", "<h1>Please disable your ad blocker</h1><p>Then load the page again.</p>", "News"),
        ("ROBOT_CHECK", "<p>You have sent too many in a given time.</p>", "429 Too Many Requests"),
        ("NO_SUCH_PAGE", "<h1>Oops!</h1><p>Nothing was found here. Maybe try a search?</p>", "Page not found - News"),
        ("NO_SUCH_PAGE", "<p>We looked for what you asked for.</p>", "News | Page not found"),
        ("NO_SUCH_PAGE", "<p>See our front page.</p>", "404 - There is nothing here"),
        ("NO_SUCH_PAGE", "<center>nginx</center>", "502 Bad Gateway"),
        ("SUBSCRIPTION", "<p>The Senate voted.</p><p>You've reached your limit of free articles.</p>", "Budget"),
        (
            "ROBOT_CHECK",
            "<h1>Sorry, you have been blocked</h1><p>This site uses a security service to protect itself from attacks."
            "</p><p>What you just did set it off: some word or phrase, a command to a database, or malformed data.</p>"
            "<p>You can write to the owner and say what you were doing when this page came up.</p>" * 2,
            "Attention Required! | Cloudflare",
        ),
        ("ROBOT_CHECK", "<p>We've noticed something about your computer.</p>", "News - Are you a robot?"),
        ("ROBOT_CHECK", "<p>News.example uses a security service to protect itself from attacks.</p>", "Blocked?"),
        ("ROBOT_CHECK", "<p>Your latest request has been rated as suspicious and therefore got blocked.</p>", "News"),
        ("ROBOT_CHECK", "<p>What you sent triggered the service and blocked your request.</p>", "News"),
        ("ROBOT_CHECK", "<p>We cannot go on.</p>", "403 - You may not see this"),
        ("ROBOT_CHECK", "<p>Подтвердите, что запросы отправляли вы, а не робот</p>", "Ой!"),
        ("NEEDS_SCRIPT", "<div id=app><h1>Polls</h1><p>Loading...</p></div>", "Poll tracker"),
        ("NEEDS_SCRIPT", "<p>Your browser is not supported.</p><p>Help Terms Privacy Cookies © 2026 A Corp.</p>", "A"),
        ("NEEDS_SCRIPT", "<noscript>앱을 실행하려면 JavaScript를 활성화해야 합니다.</noscript>", "A"),
        (
            "CONSENT",
            "<p>We use cookies and data to</p><ul><li>Keep the service up<li>Show ads</ul>",
            "Before you continue",
        ),
        ("CONSENT", "<p>Wij gebruiken cookies. Geef toestemming om door te gaan.</p><button>Akkoord</button>", "A"),
        ("SUBSCRIPTION", "<p>The Senate voted.</p><p>Continue reading your article with a subscription</p>", "A"),
        ("SUBSCRIPTION", "<p>The Senate voted.</p><p>To read this story, sign up for a free account.</p>", "A"),
        ("SUBSCRIPTION", "<p>上院は予算を可決した。</p><p>この記事は有料会員限定です。残り1234文字</p>", "A"),
        ("SUBSCRIPTION", "<p>参议院通过了预算。</p><p>订阅后继续阅读全文</p>", "A"),
        ("SUBSCRIPTION", "<p>상원이 예산을 통과시켰다.</p><p>이 기사는 유료 회원 전용입니다.</p>", "A"),
        ("OTHER_REGION", "<p>This page is not available in your country.</p>", "Odds"),
        ("OTHER_REGION", "<p>Our website is currently unavailable in most European countries.</p>", "News"),
    ],
)
def test_a_wall_is_told_by_its_kind(kind: str, body: str, title: str) -> None:
    assert wall(body, title) is Obstacle[kind]


BESIDE = {
    "newsletter": "<div><h3>Subscribe to our newsletter</h3><p>Sign up now. Already a subscriber? Log in.</p></div>",
    "offer": "<div class=promo><p>Subscribe for $1 a week. Already a subscriber? Sign in.</p></div>",
    "meter": "<p>You have read 2 of your 3 free articles this month. Subscribe for unlimited access.</p>",
    "support": "<p>Support our journalism: become a member today, from $2 a month.</p>",
    "cookies": "<div class=cookies><p>We use cookies to improve what you see. You agree to our privacy policy.</p>"
    "<button>Accept all</button></div>",
    "consent": "<div role=dialog><h2>We value your privacy</h2><p>We and our 842 partners store personal data.</p>"
    "<button>I accept</button></div>",
    "script": "<noscript>Please enable JavaScript to read the comments.</noscript>",
    "comments": "<div><p>You must be logged in to post a comment.</p></div>",
    "captcha": "<p>This site is protected by reCAPTCHA, and the privacy policy of Google applies.</p>",
    "more": "<a href=/b>Continue reading</a> <a href=/c>Read the full story</a>",
    "reading": "<div><p>Sign in to view the comments.</p></div>",
    "choices": "<div><p>We and our partners use cookies and process personal data, as our privacy policy says.</p>"
    "<p>You can accept or reject them all, or manage what you consent to whenever you like.</p></div>",
    "free": '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": true}</script>',
}


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize(
    "article", [ARTICLE, "<p>Turnout was 61 percent on Tuesday.</p><p>All votes were counted by hand.</p>"]
)
def test_a_readable_page_is_none_whatever_stands_beside_its_article(name: str, article: str) -> None:
    assert wall(f"{BESIDE[name]}<article><h1>Budget passed</h1>{article}</article>") is None
    assert wall(f"<article><h1>Budget passed</h1>{article}</article>{BESIDE[name]}") is None


@pytest.mark.parametrize(
    "about",
    [
        "<p>The regulator fined the company over cookies and consent.</p><p>Few reject them, it said.</p>",
        "<p>Bots now pass every captcha, a study of 1,400 tests says, and people fail one in five of them.</p>"
        + 3 * ARTICLE,
        "<p>The paper will ask its readers to subscribe to read more than two articles a week.</p>" + 4 * ARTICLE,
    ],
)
def test_an_article_about_walls_is_none(about: str) -> None:
    assert wall(f"<article><h1>News</h1>{about}</article>{BESIDE['cookies']}") is None


@pytest.mark.parametrize(
    "piece", one_in(3, ["enable javascript ", "captcha. ", "we use cookies. ", "to ", "x", "subscribe "])
)
def test_hostile_pages_take_no_time(piece: str) -> None:
    text, started = piece * (1_000_000 // len(piece)), time.process_time()
    wall_of(f"<p>{text}", text)
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "body",
    [
        "<noscript>Please enable JavaScript</noscript><table><tr><td>A<td>54<tr><td>B<td>46</table>",
        "<p>We use cookies on our site.</p><button>Accept</button><table><tr><td>A<td>4<tr><td>B<td>6</table>",
        "<p>Google said on Monday that it will retire its captcha, the test that tells people from robots.</p>",
        f"<p>Sign up to get unlimited access.</p><article>{ARTICLE}</article>",
    ],
)
def test_a_table_or_news_of_walls_is_none(body: str) -> None:
    assert wall(body) is None
    assert wall(f"<article>{ARTICLE}</article>", "400 people hurt - Budget") is None
