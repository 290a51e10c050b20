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

    def test_a_missing_approval_is_found(self) -> None:
        with self.assertRaises(Failure):
            taken(lambda entry: entry.get("effect") != "wait")

    def test_approvers_that_are_pinned_have_to_have_signed(self) -> None:
        one, other, third = ("11" * 32, "22" * 32, "33" * 32)

        def signing(signed: list[str]) -> Callable[[dict[str, Any]], bool]:
            def change(entry: dict[str, Any]) -> bool:
                if entry["k"] == "run.started":
                    approvers = {"keys": [one, other], "threshold": 2}
                    entry["obligations"]["blocks"]["obliged@1.0.0"]["confirm"]["approvers"] = approvers
                if entry.get("effect") == "wait":
                    entry["body"]["by"]["approvals"] = [{"key": key} for key in signed]
                return True

            return change

        self.assertEqual(taken(signing([one, other])), 1)
        for signed in ([], [one], [one, one], [one, third], [third]):
            with self.subTest(signed), self.assertRaises(Failure):
                taken(signing(signed))

    def test_an_answer_to_another_question_is_no_approval_of_an_effect(self) -> None:
        approvers = {"keys": ["11" * 32], "threshold": 1}
        obliged = {"effects": {"pay": {"confirm": {"approvers": approvers}}}}
        place = {"path": "root/a", "step": 1, "attempt": 1}
        by = {"approvals": [{"key": "11" * 32}]}

        def approved(request: Any) -> None:
            obligations = Obligations({"obligations": obliged, "definition": None}, Report("a journal"))
            obligations.waits({**place, "requestHash": "aa", "request": request})
            body = {"action": "approve", "by": by}
            obligations.sealed({**place, "effect": "wait", "ok": True, "requestHash": "aa", "body": body})
            obligations.sealed({**place, "effect": "pay", "ok": True, "requestHash": "bb", "body": None})

        approved({"effect": "pay", "payload": None})
        for request in ({"kind": "tool_call", "tool": "pay"}, {"effect": "look"}, {"payload": "pay"}, None):
            with self.subTest(request), self.assertRaises(Failure):
                approved(request)

    def test_limits_that_are_none_are_found(self) -> None:
        def change(entry: dict[str, Any]) -> bool:
            if entry["k"] == "run.started":
                entry["obligations"]["blocks"]["obliged@1.0.0"]["limits"]["attempts"] = 0
            return True

        with self.assertRaises(Failure):
            taken(change)


if __name__ == "__main__":
    unittest.main()
