"""Merkle trees: the roots that RFC 6962's own implementation is tested by, and proofs of every leaf."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.ledger.merkle_tree import inclusion_path, leaf_hash, root_from, root_hash

INPUTS = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
"""Of the first n inputs, from google/certificate-transparency, merkletree/merkle_tree_test.cc."""

contents = st.lists(st.binary(max_size=8), min_size=1, max_size=40)


@pytest.mark.parametrize("size", range(len(ROOTS)))
def test_roots_are_those_of_certificate_transparency(size: int) -> None:
    assert root_hash([leaf_hash(bytes.fromhex(each)) for each in INPUTS[:size]]).hex() == ROOTS[size]


def by_levels(leaves: list[bytes]) -> bytes:
    """Return the root made level by level; what has no neighbour goes up as it is."""
    while len(leaves) > 1:
        pairs = [leaves[at : at + 2] for at in range(0, len(leaves), 2)]
        leaves = [hashlib.sha256(b"\x01" + b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return leaves[0]


@given(contents)
def test_the_root_is_that_of_a_tree_made_level_by_level(some: list[bytes]) -> None:
    leaves = [leaf_hash(each) for each in some]
    assert root_hash(leaves) == by_levels(leaves)


@given(contents, st.data())
def test_every_leaf_has_a_proof_and_no_other_leaf_has_the_same(some: list[bytes], data: st.DataObject) -> None:
    leaves = [leaf_hash(each) for each in some]
    index = data.draw(st.integers(0, len(leaves) - 1))
    path = inclusion_path(leaves, index)
    assert root_from(leaves[index], index, len(leaves), path) == root_hash(leaves)
    assert root_from(leaf_hash(b"another one"), index, len(leaves), path) != root_hash(leaves)


@pytest.mark.parametrize(("index", "size", "length"), [(3, 3, 1), (-1, 3, 2), (0, 3, 1), (0, 1, 1), (2, 3, 2)])
def test_a_path_that_no_tree_has_is_refused(index: int, size: int, length: int) -> None:
    with pytest.raises(ValueError, match=r"leaf|path"):
        root_from(leaf_hash(b""), index, size, [leaf_hash(b"x")] * length)
