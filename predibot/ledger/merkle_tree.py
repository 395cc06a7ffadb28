"""Merkle trees of RFC 6962: one hash for many leaves in order, and proofs that a leaf is among them.

Source: RFC 6962, section 2.1. A different first byte keeps a node from passing for a leaf.
"""

import hashlib
from collections.abc import Sequence


def leaf_hash(content: bytes) -> bytes:
    """Return the hash of one leaf.

    Examples:
        >>> leaf_hash(b"").hex()[:16]
        '6e340b9cffb37a98'
    """
    return hashlib.sha256(b"\x00" + content).digest()


def root_hash(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaves, each as `leaf_hash` gives it, in their order.

    Examples:
        >>> root_hash([]).hex()[:16]
        'e3b0c44298fc1c14'
    """
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = _left_size(len(leaves))
    return _node_hash(root_hash(leaves[:split]), root_hash(leaves[split:]))


def inclusion_path(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Return the hashes that lead from the leaf at an index to the root, the nearest first."""
    if len(leaves) == 1:
        return ()
    split = _left_size(len(leaves))
    left, right = leaves[:split], leaves[split:]
    if index < split:
        return (*inclusion_path(left, index), root_hash(right))
    return (*inclusion_path(right, index - split), root_hash(left))


def root_from(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """Return the root of a leaf, at an index from 0, and its path.

    Raises `ValueError` if no tree of this size has that path.
    """
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} is none of a tree of {size}")
    if size == 1:
        if path:
            raise ValueError("the path is too long for its tree")
        return leaf
    if not path:
        raise ValueError("the path is too short for its tree")
    split = _left_size(size)
    if index < split:
        return _node_hash(root_from(leaf, index, split, path[:-1]), path[-1])
    return _node_hash(path[-1], root_from(leaf, index - split, size - split, path[:-1]))


def _left_size(size: int) -> int:
    """Return the largest power of two below a size of two or more."""
    return 1 << ((size - 1).bit_length() - 1)


def _node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
