"""Addresses: public only if every way of reading them is, and never more generous than Python itself."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.research.pages.connection.ip_addresses import is_public, parse_ip_address

IPV4 = st.ip_addresses(v=4).map(lambda address: IPv4Address(int(address)))
IPV6 = st.ip_addresses(v=6).map(lambda address: IPv6Address(int(address)))


@pytest.mark.parametrize(
    "text", ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1"]
)
def test_the_public_internet_is_public(text: str) -> None:
    assert is_public(ip_address(text))


@given(IPV4)
def test_no_ipv4_address_is_public_that_python_calls_closed(address: IPv4Address) -> None:
    assert not is_public(address) or (address.is_global and not address.is_multicast)


@given(IPV6)
def test_no_ipv6_address_is_public_that_python_calls_closed(address: IPv6Address) -> None:
    # The well-known prefix of NAT64, written apart from the code under test.
    is_nat64 = int(address) >> 32 == 0x64FF9B << 64
    wrapped = address.ipv4_mapped or address.sixtofour or is_nat64
    assert not is_public(address) or wrapped or (address.is_global and not address.is_multicast)


@given(IPV4)
def test_a_wrapped_address_is_as_public_as_what_it_wraps(inner: IPv4Address) -> None:
    bits = int(inner)
    wrapped = [(0xFFFF << 32) | bits, (0x64FF9B << 96) | bits, (0x2002 << 112) | (bits << 80)]
    assert {is_public(IPv6Address(outer)) for outer in wrapped} == {is_public(inner)}


@pytest.mark.parametrize("text", ["127.1", "0177.0.0.1", "0x7f.0.0.1", "2130706433", "1.1.1.1 ", "", "a", "1.1.1.1:80"])
def test_only_the_usual_form_of_an_address_is_read(text: str) -> None:
    assert parse_ip_address(text) is None
