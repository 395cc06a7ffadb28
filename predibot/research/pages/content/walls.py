"""Walls: pages shown in place of an article, such as an offer to pay, a question of consent or a check for robots."""

import re
from itertools import accumulate
from typing import TYPE_CHECKING

from predibot.research.pages.errors import Obstacle
from predibot.research.pages.html_text import pieces_of, tree_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]

MAX_SEEN_CHARACTERS = 200_000


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases), re.IGNORECASE)


_JOIN = r"\b(?:subscribe|sign up|sign in|log ?in|register|join|upgrade)(?: now| today| here)?,? (?:to|and)"
_WALLS = (
    (
        Obstacle.ROBOT_CHECK,
        75,
        _any(
            r"\b(?:verif\w+|confirm|prove|check\w*|make sure|ensure) (?:that )?(?:if )?you(?:'re|’re| are) (?:a |"
            r"not a )?(?:human|robot|bot)", r"are you a (?:ro)?bot", r"i['’]m not a robot", r"checking your browser",
            r"checking if the site connection is secure", r"ddos protection by",
            r"enable (?:javascript|js|cookies) and (?:cookies|javascript|disable any ad blocker)",
            r"(?:disable|turn off|pause) (?:your |any )?ad[ -]?block",
            r"\b(?:solve|complete|enter|pass|type) (?:the |this |a )?captcha\b",
            r"\bcaptcha (?:challenge|verification|code|check)", r"complete the following challenge",
            r"(?:search|request|visit) was made by a human", r"unusual (?:traffic|activity) (?:from|on|in)",
            r"automated (?:access|requests|queries|traffic)", r"press (?:&|and) hold", r"incapsula incident",
            r"complete (?:the|a) security (?:check|verification)",
            r"access to this (?:page|site) (?:has been |is )?denied", r"permission to access \S+ on this server",
            r"bot detection", r"you(?:'ve|’ve| have| were|r) (?:been )?blocked",
            r"\byour (?:\w+ ){0,2}(?:request|access|ip|ip address) (?:\S+ ){1,12}(?:blocked|limited|refused)\b",
            r"request (?:to access this page )?(?:was|has been) (?:\w+ ){0,12}(?:blocked|refused|rated as)",
            r"(?:blocked|refused) your (?:request|access)", r"access from your ip address|requests? from your ip",
            r"(?:uses?|using) a security service (?:to|for)|this block including|cloudflare ray id",
            r"protegido por um serviço de segurança|acesso (?:foi )?(?:bloqueado|filtrado)",
            r"bestätigen sie, dass sie (?:ein mensch|kein roboter)", r"vérifi\w+ que vous êtes (?:un )?humain",
            r"no eres un robot", r"я не робот|, а не робот", r"人机验证|真人验证|ロボットではない",
        ),
    ),
    (
        Obstacle.NEEDS_SCRIPT,
        10,
        _any(
            r"java ?script|자바스크립트",
            r"browser is (?:not|no longer) supported|unsupported browser|supported browsers?\b",
        ),
    ),
    (
        Obstacle.OTHER_REGION,
        60,
        _any(
            r"(?:not |un)available (?:in|to|for|from) your (?:\w+ )?(?:country|region|location|area|territory)",
            r"unavailable in (?:most |your )?(?:european|countries|country|region|location)",
            r"(?:content|site|page) is not available (?:to|for) (?:\w+ )?(?:users|visitors|readers) (?:in|from)",
            r"unavailable (?:due to|for) legal reasons|not available in your jurisdiction",
        ),
    ),
    (
        Obstacle.SUBSCRIPTION,
        100,
        _any(
            r"to (?:continue|keep|finish) reading",
            r"\bto (?:read|unlock|see|view|access) the (?:full|rest of (?:the|this|our)) ",
            r"\bcontinue reading (?:your|this|the) (?:article|story)",
            r"\bto read this (?:story|article),? (?:please |you )?(?:sign|log|subscribe|register|create|become)",
            r"\bcontinue with a free trial", r"\b(?:while|as) we verify (?:your )?access",
            r"\bno (?:more )?free (?:articles|stories) (?:left|remaining)",
            rf"{_JOIN} (?:continue|keep reading|unlock)\b",
            r"\b(?:only|exclusively|exclusive|reserved|just) (?:available )?(?:to|for) (?:\w+ ){0,3}(?:subscribers|"
            r"members)\b",
            r"this (?:\w+ )?(?:article|content|story|post|page) is (?:available )?(?:to|"
            r"for) (?:\w+ ){0,3}(?:subscribers|members)\b",
            r"(?:subscriber|member|premium)s?[- ](?:only|exclusive) (?:article|content|story|post)",
            r"you must (?:be logged in|log ?in|sign in|subscribe) to (?:read|continue|view|see|access)"
            r"(?! (?:the )?comment)",
            r"you(?:'ve|’ve| have) (?:reached|read|used|hit|exceeded)(?: up)? (?:your|all|the) [^.\n]{0,40}(?:limit|"
            r"free (?:articles|stories))", r"(?:buy|purchase|requires?) a (?:\w+ )?subscription",
            r"(?:nur|exklusiv) für (?:\S+ ){0,2}(?:abonnent|mitglieder)", r"\bmit \S+ weiterlesen",
            r"um (?:\w+ ){0,3}weiterzulesen", r"jetzt (?:\w+ ){0,3}weiterlesen", r"réservée?s? (?:à nos |aux )abonnés",
            r"il vous reste \d+", r"pour lire la suite", r"riservat[oa] agli abbonati",
            r"(?:exclusiv[oa]|s[óo]lo|solamente|reservado) (?:para|a) (?:\w+ )?(?:suscriptores|assinantes)",
            r"(?:seguir|continuar) (?:leyendo|lendo)", r"alleen voor abonnees", r"только для подписчиков",
            r"(?:有料|付费|付費)?会员?員?(?:限定|専用|专享)|有料会員|残り\d+文字|付费阅读|(?:订阅|訂閱|登录|登入)[后後](?:可)?(?:继续|繼續)?(?:阅读|閱讀)",
            r"유료 ?(?:회원|구독)|구독자 전용|회원 전용",
            r"dla (?:\w+ ){0,2}(?:prenumerator|subskrybent)|pozostało \d+ ?% (?:tekstu|artykułu)",
            r"för (?:\w+ ){0,2}prenumeranter|(?:for|kun) (?:\w+ ){0,2}abonnenter|"
            r"\bför att (?:kunna )?läsa (?:vidare|hela)|\bfor (?:at|å) læ?e?se (?:videre|hele)",
            r"vain tilaajille|tilaa ja jatka lukemista|pouze pro předplatitele|(?:yalnızca|sadece) abone|"
            r"abonelere özel|okumaya devam etmek için|exclusiv pentru abonați",
        ),
    ),
    (
        Obstacle.SUBSCRIPTION,
        30,
        _any(
            rf"{_JOIN} (?:read|view|see (?:the|this|more)|access|get (?:full|unlimited) access)\b(?! (?:the )?comment)",
        ),
    ),
)  # fmt: skip
"""Kind, the number of words of prose beside the wall that make an article, and the wall's phrases."""
_TITLES = {
    Obstacle.NO_SUCH_PAGE: _any(
        r"(?:error )?(?:404|410)\b.{0,60}", r"(?:page |file )?not found(?: [|–—-] .{1,60})?",
        r"(?:.{1,40} [|–—-] )?page not found", r"(?:[45]\d\d )?(?:bad gateway|service (?:temporarily )?unavailable|"
        r"internal server error|gateway time-?out)",
    ),
    Obstacle.ROBOT_CHECK: _any(
        r"just a moment\.\.\.", r"attention required! \| cloudflare", r"access denied", r"robot check",
        r"access to this page .*denied\.?", r"pardon our interruption\W*", r"(?:.* - )?are you a robot\?",
        r"making sure you.re not a bot!?",
        r"human verification", r".*security check(?:point)?", r".*request rate threshold exceeded", r"blocked",
        r"4(?!51)\d\d(?: - .*| forbidden)?", r"forbidden", r"(?:429 )?too many requests", r"sorry\.\.\.",
    ),
    Obstacle.CONSENT: _any(r"before you continue(?: to .{1,40})?"),
}  # fmt: skip
"""Whole titles of walls; a page of `_TITLED_WORDS` is none, whatever its title."""
_TITLED_WORDS = 200
_WAITING = re.compile(r"\W*(?:loading|please wait|redirecting)\b.{0,30}", re.IGNORECASE)
_UNFILLED = (
    "//*[(@id='root' or @id='app' or @id='application' or @id='__next' or @id='__nuxt' or @id='___gatsby' or "
    "self::app-root) and not(normalize-space())]"
)
"""Where a script would put the page; beside it there are menus at most."""
_MENU_WORDS = 30
_WAITING_WORDS, _CELLS = 10, 4
"""A page with this many cells of a table shows something."""
_LOCKED = _any(r"isAccessibleForFree\W{1,12}false", r"content_tier[\"'\s]+content=[\"']locked")
_SUBSCRIBE = _any(r"subscri(?:be|ption)", r"abonn", r"suscr[ií]", r"assine", r"подпис")
_TEASER_WORDS, _LOCKED_WORDS = 100, 60
"""If a page's data say that it is not free, fewer words are a teaser: 100 beside an offer to subscribe, else 60."""
_CONSENT = _any(
    r"cookies?\b", r"\bconsent", r"privacy", r"personal data", r"personali[sz]ed", r"our partners", r"\bvendors\b",
    r"legitimate interest", r"einwillig", r"zustimm", r"datenschutz", r"consentement", r"vie privée", r"consentimiento",
    r"tracking", r"personnalis", r"\bzgod", r"prywatn",
    r"privacidad", r"consenso", r"toestemming", r"согласие",
)  # fmt: skip
_PERSONS = _any(
    r"\b(?:we|our|us|you|your|i|wir|uns|unsere?n?|sie|ihre?r?|nous|nos|notre|vous|votre|nosotros|nuestr\w+|usted|su|tu|"
    r"noi|nostri|wij|onze|geef|twoj\w*|twoją|nasz\w*|мы|вы)\b"
)
_CHOICES = _any(
    r"\b(?:accept|reject|agree|allow|manage|decline|refuse)\b", r"akzeptier|ablehn|zustimm", r"accepter|refuser",
    r"acept|rechazar|aceitar|accett|accepteren|akkoord|akcept|zgadzam|принять",
)  # fmt: skip
_CONSENT_SHARE = 0.6
"""This share of a page's words asks for consent."""
_PROSE_WORDS, _WALL_WORDS = 8, 25
_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+|\n")
_WORD = re.compile(r"[^\W\d_]+")
_DENSE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
"""Two such characters count as a word."""


def wall_of(html: str, text: str) -> Obstacle | None:
    """Return the kind of wall that a page is, or None; `text` may be empty.

    A page with an article is no wall, whatever else it says, so the prose that remains without the wall's sentences
    decides. On a page that asks for consent, most sentences are the wall's.
    """
    tree = tree_of(html)
    if tree is None:
        return None
    # Everything that people without JavaScript see, with buttons and the title.
    shown = pieces_of(tree, lambda element: element.tag in ("script", "style", "template"))
    seen = " ".join(" ".join(piece for _element, piece in shown).split())[:MAX_SEEN_CHARACTERS]
    sentences = _SENTENCES.split((text or seen)[:MAX_SEEN_CHARACTERS])
    title = " ".join((tree.findtext(".//title") or "").split())
    named = next((kind for kind, titles in _TITLES.items() if titles.fullmatch(title)), None)
    if named is not None and sum(map(_words, sentences)) < _TITLED_WORDS:
        return named
    if _WAITING.fullmatch(text.split("\n")[-1]) and _words(text) < _WAITING_WORDS:
        return Obstacle.NEEDS_SCRIPT
    has_table = len(tree.xpath(f"(//td[normalize-space()])[position() <= {_CELLS}]")) == _CELLS
    if not has_table and not any(map(_is_prose, sentences)) and _words(text) < _MENU_WORDS and tree.xpath(_UNFILLED):
        return Obstacle.NEEDS_SCRIPT
    for kind, few_words, phrases in _WALLS:
        # Lazily: a few sentences prove an article. Sentences of walls are short.
        rest = accumulate(
            words
            for each in sentences
            if _is_prose(each) and ((words := _words(each)) > _WALL_WORDS or not phrases.search(each))
        )
        shows = has_table and kind is Obstacle.NEEDS_SCRIPT
        if not shows and all(words < few_words for words in rest) and phrases.search(seen):
            return kind
    words = sum(map(_words, sentences))
    is_teaser = words < _LOCKED_WORDS or (words < _TEASER_WORDS and _SUBSCRIBE.search(seen))
    if is_teaser and _LOCKED.search(html):
        return Obstacle.SUBSCRIPTION
    if (
        has_table
        or not _CHOICES.search(seen)
        or any(map(_is_readable, tree.xpath("//article[not(ancestor::article)]")))
    ):
        return None
    asks = sum(_words(each) for each in sentences if _CONSENT.search(each) and _PERSONS.search(each))
    return Obstacle.CONSENT if asks and asks >= _CONSENT_SHARE * words else None


def _is_readable(article: "HtmlElement") -> bool:
    """Return whether an article has prose that does not ask for consent."""
    sentences = _SENTENCES.split(article.text_content()[:MAX_SEEN_CHARACTERS])
    return any(_is_prose(each.strip()) and not _CONSENT.search(each) for each in sentences)


def _is_prose(sentence: str) -> bool:
    """Return whether a sentence is more than a heading or an entry of a menu."""
    if "©" in sentence:
        return False
    return sentence.rstrip().endswith((".", "!", "?", "。", "！", "？")) or _words(sentence) >= _PROSE_WORDS


def _words(sentence: str) -> int:
    return len(_WORD.findall(sentence)) + len(_DENSE.findall(sentence)) // 2
