"""Commit records (docs/spec/store.md, Commit record): lines behind one letter, cut into items."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Optional

from .canonical import is_hash, is_integer, parse_canonical, sha256, utf16
from .report import Failure, equal, members, require

ORDER = "IJMRWOEBLS"
REPEATS = frozenset("JBLS")
ENCRYPTED = re.compile(r"[0-9a-f]{48}\.[A-Za-z0-9+/]+={0,2}")
"""A text under the key of a subject (docs/spec/subjects.md)."""
BLOB_IN_RECORD_BYTES_MAX = 65_536
"""A blob above this many bytes is a value of its own (docs/limits.md)."""


@dataclass
class Item:
    """What one item of a commit holds; texts as they stand, so that they can be hashed."""

    run: Optional[str] = None
    journal: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    code: Optional[str] = None
    receipt: Optional[tuple[str, dict[str, Any]]] = None
    writes: Optional[list[Any]] = None
    result: Optional[tuple[str, Any]] = None
    evidence: Optional[tuple[str, dict[str, Any]]] = None
    blobs: dict[str, str] = field(default_factory=dict)
    large: list[str] = field(default_factory=list)
    encrypted: list[str] = field(default_factory=list)
    is_opened: bool = False
    """Whether it was under the key of a subject: its write set then names short values by hash, too."""


def parse_record(text: str) -> tuple[dict[str, Any], list[Item]]:
    """The counts of the first line, and the items."""
    first, *rest = text.split("\n")
    require(first.startswith("C"), "first line of a commit record", first[:1], "C")
    counts = _value(first)
    members("commit counts", counts, {"epoch", "leaves", "receipts", "seq", "version"})
    for name, number in counts.items():
        require(is_integer(number), f"commit {name}", number, "an integer")
    equal("commit version", counts["version"], 1)
    items: list[Item] = []
    last = len(ORDER)
    for line in rest:
        letter = line[:1]
        rank = ORDER.find(letter) if letter else -1
        require(rank >= 0, "letter of a commit line", letter, f"one of {ORDER}")
        if letter == "I":
            items.append(Item())
        else:
            follows = rank > last or (rank == last and letter in REPEATS)
            require(follows, "order of the lines of an item", letter, f"one of {ORDER[last:]}")
        last = rank
        _put(items[-1], letter, line)
    for item in items:
        _complete(item)
    return counts, items


def _value(line: str) -> Any:
    try:
        return parse_canonical(line[1:])
    except ValueError as error:
        raise Failure(f"canonical JSON of a {line[:1]} line", line[:200], str(error)) from None


def _put(item: Item, letter: str, line: str) -> None:
    value = _value(line)
    text = line[1:]
    if letter == "I":
        require(isinstance(value, str), "run id of an item", value, "text")
        item.run = value
    elif letter == "J":
        require(isinstance(value, dict), "journal entry", value, "an object")
        item.journal.append((text, value))
    elif letter == "M":
        require(is_hash(value), "code of a journal", value, "64 hex digits")
        item.code = value
    elif letter == "R":
        item.receipt = (text, value)
    elif letter == "W":
        require(isinstance(value, list), "write set", value, "a list")
        item.writes = value
    elif letter == "O":
        item.result = (text, value)
    elif letter == "E":
        item.evidence = (text, value)
    elif letter == "B":
        # Ledgers of 0.1.0 counted UTF-16 units here, so the smaller of both must be in bounds.
        size = len(utf16(text)) // 2
        require(size <= BLOB_IN_RECORD_BYTES_MAX, "size of a blob in a record", size, BLOB_IN_RECORD_BYTES_MAX)
        item.blobs[sha256(text.encode())] = text
    elif letter == "S":
        require(is_encrypted(value), "encrypted body", value, "name of a key, and base64")
        item.encrypted.append(value)
    else:
        require(is_hash(value), "name of a blob", value, "64 hex digits")
        item.large.append(value)


def is_encrypted(value: Any) -> bool:
    """Whether a value is a text under the key of a subject."""
    return isinstance(value, str) and ENCRYPTED.fullmatch(value) is not None


def _complete(item: Item) -> None:
    together = [item.receipt is None, item.writes is None, item.result is None]
    require(all(together) or not any(together), "R, W and O stand together", together, None)
    # "With each item of a run goes M" (docs/spec/journal.md, Code).
    equal("code over the journal of an item", item.code is not None, len(item.journal) > 0)
    present = item.journal or item.receipt is not None or item.evidence is not None
    require(bool(present), "item without a record", item.run, None)
