"""Targets: an address is taken apart once, and what is shown is what is asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.research.pages.connection.url import follow_redirect, parse_target
from predibot.research.pages.errors import AddressRefused


@pytest.mark.parametrize(
    ("url", "usual"),
    [
        ("HTTPS://Www.Example.COM:443", "https://www.example.com/"),
        ("http://example.com./a b".replace(" ", "%20"), "http://example.com/a%20b"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://bücher.example/ü?q=ä#part", "https://xn--bcher-kva.example/%C3%BC?q=%C3%A4"),
        ("http://1.1.1.1/x", "http://1.1.1.1/x"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
        ("  https://example.com?x=1  ", "https://example.com/?x=1"),
    ],
)
def test_an_address_has_one_usual_form(url: str, usual: str) -> None:
    assert parse_target(url).url == usual


@pytest.mark.parametrize(
    "url",
    ["http://", "http:///x", "http://.example.com/", "http://a..example/", "http://-a.example/", "http://a$b.example/",
     "http://[::1", "http://[1.1.1.1]/", "http://[::1]x/", f"http://{'a' * 64}.example/",
     f"http://e.example/{'a' * 5000}", "http://\u200b.example/", "https:example.com", "//example.com/"],
)  # fmt: skip
def test_what_names_no_host_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        parse_target(url)


@given(st.text(max_size=60))
def test_any_text_is_a_target_or_refused(text: str) -> None:
    for url in (text, f"http://{text}", f"https://example.com/{text}"):
        try:
            target = parse_target(url)
        except AddressRefused:
            continue
        assert parse_target(target.url) == target
        target.path_and_query.encode("ascii")


@pytest.mark.parametrize(
    ("location", "url"),
    [("/b", "https://example.com/b"), ("b?x", "https://example.com/a/b?x"), ("//other.example/", "https://other.example/"),
     ("http://example.com/", "http://example.com/")],
)  # fmt: skip
def test_a_redirect_is_read_from_where_it_was_said(location: str, url: str) -> None:
    assert follow_redirect(parse_target("https://example.com/a/"), location).url == url
