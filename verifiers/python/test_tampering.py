"""One character anywhere in a golden ledger is changed, sizes and the footer's hash put in order again: the
verifier finds it, but for the places that it says it does not check."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import tempfile
import unittest
from pathlib import Path
from typing import Any

from tally.canonical import in_order, parse
from tally.report import Report
from tally.verifier import verify

LEDGERS = Path(__file__).resolve().parents[2] / "test" / "vectors" / "ledgers"
NAMES = ("approvals", "atomics", "bodies", "composites", "evidence", "intents", "plans", "system", "workflows", "open-wait", "open-plan", "open-subjects", "open-tags")
CHANGES = 40
SEED = 20261122
CHARACTERS = '0123456789abcdef"{}[],:xJ\n'


class Snapshot:
    """Lines of a snapshot, and the file that they make."""

    def __init__(self, name: str) -> None:
        first, *rest, last = gzip.open(LEDGERS / f"{name}.snapshot.gz", "rt", encoding="utf-8").read().splitlines()
        self.header = json.loads(first)
        self.lines: list[dict[str, str]] = [json.loads(line) for line in rest]
        self.footer = json.loads(last)
        self.open_runs = {line["open"] for line in self.lines if "open" in line}

    def encoded(self, lines: list[dict[str, str]]) -> bytes:
        """The file with these lines, as somebody would write it who knows the format."""
        texts = [in_order(line).encode() for line in lines]
        header = {**self.header, "bytes": sum(len(text) + 1 for text in texts), "longestLine": max(map(len, texts))}
        body = b"".join(text + b"\n" for text in [in_order(header).encode(), *texts])
        return body + in_order({**self.footer, "sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"


class Tampering(unittest.TestCase):
    """The table of docs/guarantees.md, by chance."""

    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def verified(self, data: bytes) -> Report:
        """What the verifier says of these bytes."""
        path = Path(self.directory.name) / "ledger.tally"
        path.write_bytes(data)
        return verify(str(path))

    def test_a_changed_character_is_found_or_stands_where_nothing_is_checked(self) -> None:
        chance = random.Random(SEED)
        for name in NAMES:
            snapshot = Snapshot(name)
            self.assertTrue(self.verified(snapshot.encoded(snapshot.lines)).ok)
            for _ in range(CHANGES):
                number = chance.randrange(len(snapshot.lines))
                member = chance.choice(list(snapshot.lines[number]))
                text = snapshot.lines[number][member]
                at = chance.randrange(len(text))
                changed = text[:at] + chance.choice(CHARACTERS) + text[at + 1 :]
                lines = [*snapshot.lines]
                lines[number] = {**lines[number], member: changed}
                if changed != text and self.verified(snapshot.encoded(lines)).ok:
                    self.assertEqual(member, "commit")
                    self.assertTrue(is_said_to_be_unchecked(text, changed, snapshot.open_runs), (name, text[at - 80 : at + 40]))

    def test_a_file_that_was_cut_anywhere_is_found(self) -> None:
        whole = Snapshot("evidence")
        data = whole.encoded(whole.lines)
        chance = random.Random(SEED)
        for length in [0, 1, len(data) - 1, *(chance.randrange(len(data)) for _ in range(40))]:
            self.assertFalse(self.verified(data[:length]).ok)
        self.assertFalse(self.verified(data + b"\n").ok)

    def test_a_packed_file_that_was_cut_is_found(self) -> None:
        packed = (LEDGERS / "evidence.snapshot.gz").read_bytes()
        for length in (5, len(packed) // 2, len(packed) - 1):
            path = Path(self.directory.name) / "ledger.tally.gz"
            path.write_bytes(packed[:length])
            self.assertFalse(verify(str(path)).ok)


def is_said_to_be_unchecked(before: str, after: str, open_runs: set[str]) -> bool:
    """Whether two commit records differ only in what every report calls not checked."""
    pairs = [(one, other) for one, other in zip(before.split("\n"), after.split("\n")) if one != other]
    return len(pairs) == 1 and all(map(_unsigned, *zip(*pairs), [open_runs]))


def _unsigned(before: str, after: str, open_runs: set[str]) -> bool:
    letter, one, other = before[0], parse(before[1:]), parse(after[1:])
    if letter in "MS" or (letter == "J" and "$encrypted" in one):
        # Codes need the blob key, and what is encrypted the keys of subjects.
        return True
    if letter == "C":
        return {**one, "epoch": 0} == {**other, "epoch": 0}
    return letter == "J" and (one["run"] in open_runs or _bound(one) == _bound(other))


def _bound(entry: dict[str, Any]) -> dict[str, Any]:
    """What receipt, evidence or journal hash say of an entry: of the last one only its result."""
    if entry["k"] != "run.finished":
        return entry
    response = {name: value for name, value in entry["response"].items() if name not in ("errorType", "metadata")}
    return {**entry, "at": 0, "response": response}


if __name__ == "__main__":
    unittest.main()
