"""IP addresses, and which of them are on the public internet."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

IPAddress = IPv4Address | IPv6Address

# A list of our own, because `ipaddress.is_global` differs between versions of Python.
_CLOSED_IPV4 = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers, and some clouds' metadata
        "127.0.0.0/8",  # this machine
        "168.63.129.16/32",  # a public address that is a cloud's metadata server
        "169.254.0.0/16",  # link-local, and most clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_OPEN_IPV6 = IPv6Network("2000::/3")
_CLOSED_IPV6 = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments, among them Teredo, which hides two IPv4 addresses
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_MAPPED_IPV4 = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_6TO4 = IPv6Network("2002::/16")
_ISATAP = (0x00005EFE, 0x02005EFE)
_LOW_32_BITS = 0xFFFFFFFF


def is_public(address: IPAddress) -> bool:
    """Return whether an address, and every IPv4 address inside it, is on the public internet.

    An IPv6 address may wrap an IPv4 one (mapped, NAT64, 6to4, ISATAP), where its packets then end.

    Examples:
        >>> is_public(ip_address("93.184.216.34")), is_public(ip_address("::ffff:127.0.0.1"))
        (True, False)
    """
    if isinstance(address, IPv4Address):
        return not any(address in block for block in _CLOSED_IPV4)
    if address.scope_id is not None or not all(is_public(inner) for inner in _wrapped_ipv4(address)):
        return False
    if address in _MAPPED_IPV4 or address in _NAT64:
        return True
    return address in _OPEN_IPV6 and not any(address in block for block in _CLOSED_IPV6)


def parse_ip_address(text: str) -> IPAddress | None:
    """Return the IP address that a text is, or None.

    IPv4 is four decimal numbers with dots: `2130706433`, `0177.0.0.1`, `0x7f.1` and `127.1` give None.
    """
    try:
        return ip_address(text)
    except ValueError:
        return None


def _wrapped_ipv4(address: IPv6Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses that an IPv6 address leads to."""
    bits = int(address)
    if address in _MAPPED_IPV4 or address in _NAT64:
        yield IPv4Address(bits & _LOW_32_BITS)
    if address in _6TO4:
        yield IPv4Address((bits >> 80) & _LOW_32_BITS)
    if (bits >> 32) & _LOW_32_BITS in _ISATAP:
        yield IPv4Address(bits & _LOW_32_BITS)
