"""The Merkle tree of RFC 6962, 2.1 (docs/spec/log-and-notes.md, Tree)."""

from __future__ import annotations

import hashlib

EMPTY = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Hash of a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def inner_hash(left: bytes, right: bytes) -> bytes:
    """Hash of an inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class MerkleTree:
    """Right edge of a tree: one hash for each 1 bit of the size, the largest subtree first."""

    def __init__(self) -> None:
        self.size = 0
        self._edge: list[bytes] = []

    def append(self, data: bytes) -> None:
        """Adds a leaf with this content."""
        self.append_hash(leaf_hash(data))

    def append_hash(self, node: bytes) -> None:
        """Adds a leaf by its hash."""
        full = self.size
        while full & 1:
            node = inner_hash(self._edge.pop(), node)
            full >>= 1
        self._edge.append(node)
        self.size += 1

    def edge(self) -> bytes:
        """The hashes of the right edge, one after the other."""
        return b"".join(self._edge)

    def root(self) -> bytes:
        """Root of what was appended."""
        if not self._edge:
            return EMPTY
        node = self._edge[-1]
        for left in reversed(self._edge[:-1]):
            node = inner_hash(left, node)
        return node
