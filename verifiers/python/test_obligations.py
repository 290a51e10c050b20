"""Obligations against a recorded journal of test/vectors: `python3 -m unittest` in this directory."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any, Callable

from tally.obligations import Obligations
from tally.report import Failure, Report

JOURNAL = Path(__file__).resolve().parents[2] / "test" / "vectors" / "journals" / "obliged.json"


def entries() -> list[dict[str, Any]]:
    """The entries of a run whose only block is obliged to ask."""
    return [json.loads(text) for text in json.loads(JOURNAL.read_text())["entries"]]


def taken(change: Callable[[dict[str, Any]], bool] = lambda entry: True) -> int:
    """How many approvals were found that had to be there; `change` says which entries stay."""
    kept = [entry for entry in entries() if change(entry)]
    report = Report("a journal")
    obligations = Obligations(kept[0], report)
    for entry in kept[1:]:
        if entry["k"] == "sealed":
            obligations.sealed(entry)
        if entry["k"] == "settled":
            obligations.settled(entry)
    return report.checked.get("approvals that were obliged", 0)


class Approvals(unittest.TestCase):
    """docs/spec/journal.md, Obligations."""

    def test_what_was_approved_holds(self) -> None:
        self.assertEqual(taken(), 1)

    def test_what_nobody_has_approved_is_found(self) -> None:
        with self.assertRaises(Failure):
            taken(lambda entry: entry.get("effect") != "wait")

    def test_limits_that_are_none_are_found(self) -> None:
        def change(entry: dict[str, Any]) -> bool:
            if entry["k"] == "run.started":
                entry["obligations"]["blocks"]["obliged@1.0.0"]["limits"]["attempts"] = 0
            return True

        with self.assertRaises(Failure):
            taken(change)


if __name__ == "__main__":
    unittest.main()
