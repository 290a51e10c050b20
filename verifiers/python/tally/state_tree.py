"""The crit-bit tree of a state and its root (docs/spec/state-root.md)."""

from __future__ import annotations

import hashlib
from typing import Optional, Union

from .canonical import hash_json

EMPTY = hashlib.sha256(b"").digest()

STATE_ROOT_VERSION = 1
CAPABILITY_VERSION = 1
PACKAGES = "system/packages/"
"""State keys below it are the installed packages: `<id>` with `{at, by, codeHash, version}`."""


class Leaf:
    """An entry: 32 bytes of key hash (also as a number), and the hash of its value."""

    __slots__ = ("key", "value", "hash")

    def __init__(self, key: bytes, value: bytes) -> None:
        self.key = key
        self.value = value
        self.hash = hashlib.sha256(b"\x00\x20" + key + b"\x20" + value).digest()


class Inner:
    """All leaves below agree up to `bit`; those with 0 there are on the left."""

    __slots__ = ("bit", "left", "right", "hash")

    def __init__(self, bit: int, left: "Node", right: "Node") -> None:
        self.bit = bit
        self.left = left
        self.right = right
        self.hash = hashlib.sha256(b"\x01" + left.hash + right.hash).digest()


Node = Union[Leaf, Inner]


def _bit(key: bytes, bit: int) -> int:
    return key[bit >> 3] >> (7 - (bit & 7)) & 1


def _first_difference(a: bytes, b: bytes) -> int:
    difference = int.from_bytes(a, "big") ^ int.from_bytes(b, "big")
    return 256 - difference.bit_length()


class StateTree:
    """A whole state by hashes. Its root depends on the entries alone."""

    def __init__(self) -> None:
        self._root: Optional[Node] = None
        self.size = 0

    def root(self) -> bytes:
        """The storage root."""
        return EMPTY if self._root is None else self._root.hash

    def get(self, key: str) -> Optional[bytes]:
        """Hash of the value of a key."""
        leaf = self._nearest(hash_key(key))
        return leaf.value if leaf is not None and leaf.key == hash_key(key) else None

    def set(self, key: str, value: bytes) -> None:
        """Puts a value, given by its hash."""
        leaf = Leaf(hash_key(key), value)
        nearest = self._nearest(leaf.key)
        if nearest is None:
            self._root, self.size = leaf, 1
            return
        bit = _first_difference(leaf.key, nearest.key)
        if bit == 256:
            self._root = _replace(self._root, leaf)
        else:
            self._root = _insert(self._root, leaf, bit)
            self.size += 1

    def delete(self, key: str) -> None:
        """Removes a key that is there."""
        self._root = _remove(self._root, hash_key(key))
        self.size -= 1

    def _nearest(self, key: bytes) -> Optional[Leaf]:
        node = self._root
        while isinstance(node, Inner):
            node = node.right if _bit(key, node.bit) else node.left
        return node


def hash_key(key: str) -> bytes:
    """Place of a key in the tree."""
    return hashlib.sha256(key.encode()).digest()


def _with_child(node: Inner, right: int, child: Node) -> Inner:
    return Inner(node.bit, node.left, child) if right else Inner(node.bit, child, node.right)


def _replace(node: Optional[Node], leaf: Leaf) -> Node:
    if not isinstance(node, Inner):
        return leaf
    right = _bit(leaf.key, node.bit)
    return _with_child(node, right, _replace(node.right if right else node.left, leaf))


def _insert(node: Optional[Node], leaf: Leaf, bit: int) -> Node:
    assert node is not None
    if isinstance(node, Leaf) or node.bit > bit:
        return Inner(bit, node, leaf) if _bit(leaf.key, bit) else Inner(bit, leaf, node)
    right = _bit(leaf.key, node.bit)
    return _with_child(node, right, _insert(node.right if right else node.left, leaf, bit))


def _remove(node: Optional[Node], key: bytes) -> Optional[Node]:
    if not isinstance(node, Inner):
        return None
    right = _bit(key, node.bit)
    child = _remove(node.right if right else node.left, key)
    if child is None:
        return node.left if right else node.right
    return _with_child(node, right, child)


def state_root(public_key: str, packages: dict[str, str], commitment: Optional[str], storage: str) -> str:
    """Root over the key in force, the installed packages (id to code hash), a receipt hash and the storage root."""
    installed = [{"codeHash": packages[id], "id": id} for id in sorted(packages, key=lambda id: id.encode("utf-16-be"))]
    return hash_json(
        {
            "capabilityVersion": CAPABILITY_VERSION,
            "identityPublicKey": public_key,
            "installedDApps": hash_json(installed),
            "receiptChainCommitment": commitment,
            "storage": storage,
            "version": STATE_ROOT_VERSION,
        }
    )
