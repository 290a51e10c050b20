"""References and the bodies that they stand for (docs/spec/receipt.md, Blobs)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from .canonical import canonical, hash_json, is_hash, is_integer, parse_canonical, sha256
from .record import BLOB_IN_RECORD_BYTES_MAX, Item
from .report import Failure, Report, equal, require

INLINE_BYTES_MAX = 1_024
"""Canonical JSON above this many bytes is a blob (docs/spec/receipt.md, Blobs)."""


@dataclass(frozen=True)
class Reference:
    """`{"$blob": hash, "bytes": n}`."""

    hash: str
    bytes: int


def reference(value: Any) -> Optional[Reference]:
    """The reference that a value is, or None. Keys of values never begin with `$`."""
    if not isinstance(value, dict) or "$blob" not in value:
        return None
    if set(value) != {"$blob", "bytes"} or not is_hash(value["$blob"]) or not is_integer(value["bytes"]):
        raise Failure("reference to a blob", value, '{"$blob": hash, "bytes": n}')
    return Reference(value["$blob"], value["bytes"])


@dataclass(frozen=True)
class Body:
    """What a field holds: its value if it is known now, and the reference that stands for it, if any."""

    value: Any
    known: bool
    reference: Optional[Reference]


@dataclass
class _Wanted:
    bytes: int
    salted_allowed: bool
    hashes: set[str]


class Blobs:
    """The bodies of a ledger by name. Those of values of their own come after all commits, so what is
    known of them is kept until then."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._wanted: dict[str, _Wanted] = {}
        self._large: set[str] = set()
        self._seen: set[str] = set()
        self._read: set[str] = set()

    def field(self, name: str, value: Any, item: Item, salted_allowed: bool) -> Body:
        """The body of a field of a record. Fails when it is inline and must not be, or its blob does not fit."""
        found = reference(value)
        if found is None:
            size = len(canonical(value).encode())
            require(size <= INLINE_BYTES_MAX, f"{name} that is inline", size, INLINE_BYTES_MAX)
            return Body(value, True, None)
        self._want(found, salted_allowed)
        text = item.blobs.get(found.hash)
        if text is None:
            return Body(None, False, found)
        return Body(_fit(name, text, found.bytes, salted_allowed, item.is_opened), True, found)

    def said(self, name: str, value: Any, item: Item) -> Body:
        """The body of a field that is inline whatever its size, unless it is private."""
        return Body(value, True, None) if reference(value) is None else self.field(name, value, item, True)

    def expect(self, body: Body, value_hash: str, name: str) -> None:
        """The body must be the value with this hash; of a body that comes later, when it comes."""
        if body.known:
            equal(name, hash_json(body.value), value_hash)
        elif body.reference is not None and body.reference.hash != value_hash:
            self._wanted[body.reference.hash].hashes.add(value_hash)

    def end_item(self, item: Item) -> None:
        """Every blob of an item must be named by a record of it."""
        for name, text in item.blobs.items():
            require(name in self._wanted, "blob that no record names", name, None)
            self._seen.add(name)
            self._report.count("bodies in records")
        for name in item.large:
            require(name in self._wanted, "blob that no record names", name, None)
            self._large.add(name)

    def read(self, text: str) -> None:
        """A body that is a value of its own."""
        data = text.encode()
        name = sha256(data)
        require(len(data) > BLOB_IN_RECORD_BYTES_MAX, "blob that belongs into a record", len(data), BLOB_IN_RECORD_BYTES_MAX)
        require(name in self._large, "blob that no record names", name, None)
        require(name not in self._read, "blob that stands twice", name, None)
        self._read.add(name)
        wanted = self._wanted[name]
        value = _fit("blob", text, wanted.bytes, wanted.salted_allowed)
        for value_hash in wanted.hashes:
            equal("body of a blob", hash_json(value), value_hash)
        self._report.count("bodies of their own")

    def read_again(self, text: str) -> None:
        """A body before a commit of an archive that names it: it may have stood before an earlier one."""
        name = sha256(text.encode())
        require(name in self._large, "blob that no record names", name, None)
        if name not in self._read:
            self.read(text)

    def end(self) -> None:
        """Bodies that are not there have been withheld or erased."""
        missing = [name for name in self._wanted if name not in self._seen and name not in self._read]
        self._report.skip("bodies that are not in the snapshot (withheld or erased)", len(missing))

    def _want(self, found: Reference, salted_allowed: bool) -> None:
        wanted = self._wanted.setdefault(found.hash, _Wanted(found.bytes, salted_allowed, set()))
        equal("bytes of a reference", found.bytes, wanted.bytes)


def _fit(name: str, text: str, size: int, salted_allowed: bool, short_allowed: bool = False) -> Any:
    """The value of a blob's text, salted if the text is longer than the body."""
    try:
        value = parse_canonical(text)
    except ValueError as error:
        raise Failure(f"blob of {name}", text[:200], str(error)) from None
    length = len(text.encode())
    if length == size:
        require(short_allowed or size > INLINE_BYTES_MAX, f"blob of {name} that is not private", size, f"more than {INLINE_BYTES_MAX}")
        return value
    salted = salted_allowed and isinstance(value, dict) and set(value) == {"body", "salt"} and is_hash(value["salt"])
    require(salted and length > size, f"blob of {name}", length, size)
    equal(f"bytes of {name}", size, len(canonical(value["body"]).encode()))
    return value["body"]
