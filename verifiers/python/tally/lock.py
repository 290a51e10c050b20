"""The integrity lock: where the chain stood when the ledger was closed last (docs/spec/integrity-lock.md)."""

from __future__ import annotations

import re
from typing import Any

from .canonical import is_hash, is_integer, parse_canonical
from .chain import Chain
from .report import Failure, equal, members, require

FORMAT = "tally-integrity/1"
MEMBERS = {"codeHashes", "format", "headRoot", "kernel", "mac", "receiptHash", "receipts"}


def check_lock(text: str, chain: Chain) -> None:
    """Compares a lock with a chain that was read to its end; its code needs the blob key."""
    lock = parse_lock(text)
    require(lock["receipts"] <= chain.receipts, "lock.receipts", lock["receipts"], chain.receipts)
    place = -1 if lock["receiptHash"] is None else chain.place_of(lock["receiptHash"])
    equal("lock.receiptHash", lock["receipts"] - 1, place)
    if lock["receipts"] == chain.receipts:
        equal("lock.headRoot", lock["headRoot"], chain.head_root())


def parse_lock(text: str) -> dict[str, Any]:
    """The members of a lock, read strictly."""
    try:
        require(text.endswith("\n"), "lock", text[-1:], "a line break at the end")
        lock = parse_canonical(text[:-1])
    except ValueError as error:
        raise Failure("lock", text[:200], str(error)) from None
    members("lock", lock, MEMBERS)
    equal("lock format", lock["format"], FORMAT)
    for name in ("headRoot", "mac"):
        require(is_hash(lock[name]), f"lock {name}", lock[name], "a hash")
    kernel = lock["kernel"]
    require(isinstance(kernel, str) and re.fullmatch("[1-9][0-9]*", kernel) is not None, "lock kernel", kernel, "a version")
    code = lock["codeHashes"]
    require(isinstance(code, dict) and all(map(is_hash, code.values())), "lock codeHashes", code, "hashes by package")
    count = lock["receipts"]
    require(is_integer(count) and count >= 0, "lock receipts", count, "a count")
    last = lock["receiptHash"]
    require(last is None if count == 0 else is_hash(last), "lock receiptHash", last, "the hash of the last receipt")
    return lock
