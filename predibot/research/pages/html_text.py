"""The main text of a page: its author's words, without menus, advertisements and comments."""

import itertools
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]


MAX_HTML_CHARACTERS = 3_000_000
MAX_TAGS = 40_000
"""More than any recorded page has, and a few seconds of work at worst."""
_NEVER_TEXT = (
    "script", "style", "noscript", "template", "svg", "iframe", "object", "form", "button", "select",
    "nav", "footer", "aside", "dialog", "menu",
)  # fmt: skip
_BLOCKS = frozenset({
    "h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "section", "article", "header", "br", "hr", "ul", "ol", "dl", "li",
    "dt", "dd", "blockquote", "pre", "figure", "figcaption", "table", "caption", "tr",
})  # fmt: skip
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0", re.IGNORECASE)
# Control characters but tab and line end, and characters that are invisible or turn the reading direction: no page
# needs them, and hostile pages hide instructions in them.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_BLANKS = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u3000]+")
_BLANK_LINES = re.compile(r"\n\s*\n+")
_SENTENCE_WORDS, _LITTLE_CHARACTERS = 5, 400
_MORE = 2
"""The text in a page's scripts must be so many times longer than its visible text to replace it."""
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,200}\?>")

# Errors of lxml, trafilatura and its helpers on malformed pages.
_FAILURES = (
    ValueError, TypeError, LookupError, AttributeError, AssertionError, ArithmeticError, RecursionError, SyntaxError,
)  # fmt: skip


def main_text(html: str, url: str) -> str:
    """Return the main text of an HTML page, a paragraph a line.

    By trafilatura with tables, but without comments, links and formatting: these options did best on the recorded pages
    (F1 0.962 of 4-gram shingles; 0.955 preferring precision, 0.960 preferring recall, 0.953 without tables). Its
    deduplication is off: it remembers other pages, so a text would depend on the pages before it. If trafilatura finds
    nothing, all blocks of the page's main part are taken; if these say nothing, the longest text in the data of its
    scripts (`__NEXT_DATA__` and its like).

    `html` is read up to `MAX_HTML_CHARACTERS` and `MAX_TAGS`. `url` is a hint for the extraction, never fetched. The
    text has no control or invisible characters; it may be empty.
    """
    html = _XML_DECLARATION.sub("", limit_html(html), count=1)
    if not html.strip():
        return ""
    text = clean_text(_by_trafilatura(html, url)) or clean_text("\n".join(all_blocks(html)))
    lines = text.lower().split("\n")
    says = any(len(line.split()) >= _SENTENCE_WORDS and "javascript" not in line for line in lines)
    if says or len(text) > _LITTLE_CHARACTERS:
        return text
    data = script_text(html)
    return clean_text("\n".join(all_blocks(data.replace("\n", "<br>")))) if len(data) > _MORE * len(text) else text


def tree_of(html: str) -> "HtmlElement | None":
    """Return a page as a tree of lxml, or None if that fails."""
    from lxml.etree import LxmlError  # type: ignore[import-untyped]
    from lxml.html import HTMLParser, document_fromstring

    try:
        return document_fromstring(
            limit_html(html).encode("utf-8", "ignore"), parser=HTMLParser(encoding="utf-8", huge_tree=True)
        )
    except (LxmlError, *_FAILURES):
        return None


def page_title(html: str) -> str:
    """Return the title of a page on one line; empty if it has none."""
    tree = tree_of(html)
    if tree is None:
        return ""
    stated = tree.xpath("//meta[@property='og:title']/@content")[:1]
    titles = tree.xpath("//title")[:1]
    named = "".join(stated) or "".join(title.text_content() for title in titles)
    return " ".join(clean_text(named).split())


def clean_text(text: str) -> str:
    """Return a text without invisible characters and needless blanks."""
    visible = INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _BLANK_LINES.sub("\n", "\n".join(_BLANKS.sub(" ", line).strip() for line in visible.split("\n"))).strip()


def hush(name: str) -> None:
    """Keep a library's warnings off the terminal."""
    logger = logging.getLogger(name)
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def limit_html(html: str) -> str:
    """Return the part of a page that is read."""
    text = html[:MAX_HTML_CHARACTERS].replace("\x00", "")
    if text.count("<") <= MAX_TAGS:
        return text
    last = next(itertools.islice(re.finditer("<", text), MAX_TAGS, None))
    return text[: last.start()]


def _by_trafilatura(html: str, url: str) -> str:
    # Costs 0.3 s to import, and only agents that read pages need it.
    from trafilatura import extract, load_html

    for library in ("trafilatura", "htmldate", "courlan", "charset_normalizer", "justext", "readability"):
        hush(library)
    try:
        tree = load_html(html)
        if tree is None:
            return ""
        # The innermost first, so that no subtree is moved once for each element around it.
        for element in reversed(tree.xpath("//body//*[@hidden or @style]")):
            if _is_hidden(element.attrib):
                element.drop_tree()
        return extract(tree, url=url, include_comments=False, include_tables=True) or ""
    except _FAILURES:
        return ""


def _is_hidden(attributes: Mapping[str, object]) -> bool:
    """Return whether people do not see an element, so that it may hide instructions to agents. Only for elements below
    the body: some sites hide the body until a script has run.
    """
    return "hidden" in attributes or _HIDDEN.search(str(attributes.get("style") or "")) is not None


def all_blocks(html: str) -> Iterator[str]:
    """Yield the text of every block in the page's main part."""
    from bs4 import BeautifulSoup
    from bs4.element import NavigableString, Tag

    try:
        soup = BeautifulSoup(html, "lxml")
    except _FAILURES:
        return
    for tag in reversed((soup.body or soup).find_all(True)):
        if tag.name in _NEVER_TEXT or _is_hidden(tag.attrs):
            tag.extract()
    root = soup.find("article") or soup.find("main") or soup.body or soup
    block: list[str] = []
    for node in root.descendants:
        if isinstance(node, Tag) and node.name in _BLOCKS:
            yield " ".join(block)
            block = []
        elif type(node) is NavigableString:
            block.append(" ".join(node.split()))
    yield " ".join(block)


def pieces_of(root: "HtmlElement", is_left_out: Callable[["HtmlElement"], bool]) -> Iterator[tuple["HtmlElement", str]]:
    """Yield the pieces of text in an element, each with the element that begins or ends before it."""
    from lxml.etree import iterwalk

    walk = iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start" and is_left_out(element):
            walk.skip_subtree()
        elif event == "start":
            yield element, element.text or ""
        if event != "start" and element is not root:
            yield element, element.tail or ""


_DATA = re.compile(
    r"<script\b[^<>]{0,300}(?:application/json|__NEXT_DATA__|fastboot/shoebox)[^<>]{0,300}>|"
    r"\b_{2,3}(?:next|nuxt|initial|preloaded|apollo|redux|data|state|app|server|page|react|remix)\w*|"
    r"\b_{2,3}\w{1,30}_(?:state|data|props|store)\w*|\bFusion\.globalContent\b|\bytInitial\w+",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""\s(?:data-[\w-]{2,30}|props)=(?:"(\{&quot;[^"]{100,})"|'(\{"[^']{100,})')""")
"""Where Inertia, Astro and React on Rails keep data."""
_LINKED = re.compile(r"<script\b[^<>]{0,300}ld\+json[^<>]{0,300}>", re.IGNORECASE)
_BODIES = frozenset({"articleBody", "text"})
_SCRIPT_ENDS = re.compile(r"</script", re.IGNORECASE)
_STRING = re.compile(r'(?:"?\b(\w{1,40})"?\s*:\s*)?"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"|\\?\Z)', re.DOTALL)
_CODE = re.compile(r"^\s*(?:https?:|[{\[]|\w+:[\[{\"]|function\b)|[{;]\s*\n|\bvar |=>|\}\s*$")
_WORD = re.compile(r"(?<!\S)[^\w\s]?[^\W\d_A-Z][^\W\d_]*(?:[’'][^\W\d_]+)?[^\w\s]{0,3}(?!\S)")
"""A word of a sentence; lists of fonts, classes and addresses have few."""
_MIN_CHARACTERS = 40
_MIN_WORDS = 4
_STREAMED = re.compile(r'\b__next_f\.push\(\[1,\s*"((?:[^"\\]|\\.)*+)"\]\)', re.DOTALL)
_TEXT_ROW = re.compile(r"[0-9a-f]{1,8}:T([0-9a-f]{1,6}),")
_NEAR = 200
"""So many characters of data may stand between the pieces of a sentence."""
_INLINE = frozenset(" ,.;:!?)’'")
_MAX_DEPTH = 3


def script_text(html: str) -> str:
    """Return the longest text in the data of a page's scripts, with its HTML; empty if there is none. That is all
    sentences with the same name, such as an article's paragraphs, one a line.
    """
    found: dict[str, dict[str, list[str]]] = {}
    of_data = chain.from_iterable(_named_sentences(written, _MAX_DEPTH) for written in _data_scripts(html))
    of_linked = chain.from_iterable(_named_sentences(written, 0) for _, written in _scripts(html, _LINKED))
    # Other texts of linked data, such as descriptions, are about the article.
    for name, before, text, after in chain(of_data, (each for each in of_linked if each[0] in _BODIES)):
        # Data often hold an article twice.
        found.setdefault(name, {}).setdefault(text, [*before, text, *after])
    longest = max(found.values(), key=lambda texts: sum(map(len, texts)), default={})
    joined = ""
    for piece in chain.from_iterable(longest.values()):
        joined += piece if joined[-1:].isspace() or piece[0] in _INLINE else f"\n{piece}"
    return joined.strip("\n")


def _data_scripts(html: str) -> Iterator[str]:
    yield (stream := _streamed_data(html))
    yield from (unescape(double or single) for double, single in _ATTRIBUTE.findall(html))
    for mark, written in _scripts(html, _DATA):
        if not stream or mark.lower() != "__next_f":
            yield written


def _scripts(html: str, begin: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield the scripts that begin so, or have that in them, from there on, each with that mark."""
    at = 0
    while (begins := begin.search(html, at)) is not None:
        ends = _SCRIPT_ENDS.search(html, begins.end())
        at = len(html) if ends is None else ends.end()
        yield begins.group(), html[begins.start() if begins.group()[0] != "<" else begins.end() : at]


def _streamed_data(html: str) -> str:
    """Return the rows that a page of Next.js streams in pieces, which are cut anywhere; rows of text become strings."""
    stream = "".join(_unescape(piece) or "" for piece in _STREAMED.findall(html))
    rows, at = list[str](), 0
    while (head := _TEXT_ROW.search(stream, at)) is not None:
        n_bytes = int(head[1], 16)
        text = stream[head.end() : head.end() + n_bytes].encode(errors="replace")[:n_bytes].decode(errors="ignore")
        rows += stream[at : head.start()], json.dumps(text), "\n"
        at = head.end() + len(text)
    return "".join(rows) + stream[at:]


def _named_sentences(written: str, depth: int) -> Iterator[tuple[str, list[str], str, list[str]]]:
    """Yield the sentences in data with their names, each between the short texts of its name beside it: a sentence with
    a link or a word in bold is written in pieces. Strings may contain data again.
    """
    latest: dict[str, tuple[int, list[str]]] = {}
    recent: dict[str, list[tuple[int, str]]] = {}
    found: list[tuple[str, list[str], str, list[str]]] = []
    for match in _STRING.finditer(written):
        name, quoted = match[1] or "", match[2]
        if not (text := _unescape(quoted)):
            continue
        is_code = _CODE.search(text) is not None
        end, after = latest.get(name, (-_NEAR - 1, []))
        if depth and is_code and len(quoted) >= _MIN_CHARACTERS and '"' in text:
            found += _named_sentences(text, depth - 1)
        elif is_code:
            continue
        elif _is_sentence(text):
            before = [short for start, short in recent.pop(name, ()) if match.start() - start <= _NEAR]
            latest[name] = match.end(), []
            found.append((name, before, text, latest[name][1]))
        elif name and match.start() - end <= _NEAR:
            after.append(text)
        elif name:
            recent[name] = [*recent.get(name, ())[-2:], (match.start(), text)]
    yield from found


def _unescape(quoted: str) -> str | None:
    """Return the text of a string of JSON, given without its marks; None if it is none."""
    try:
        return str(json.loads(f'"{quoted}"', strict=False)) if "\\" in quoted else quoted
    except ValueError:
        return None


def _is_sentence(text: str) -> bool:
    is_long = len(text) >= _MIN_CHARACTERS
    return is_long and (len(_WORD.findall(text)) >= _MIN_WORDS or not text[:_MIN_CHARACTERS].isascii())
