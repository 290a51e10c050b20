"""Signed answers: a recorded journal holds, and whatever is altered in it does not."""

from __future__ import annotations

import copy
import json
import unittest
from pathlib import Path
from typing import Any, Callable

from tally.approvals import Approvals
from tally.report import Failure, Report

JOURNAL = Path(__file__).resolve().parents[2] / "test" / "vectors" / "journals" / "approved.json"
Entries = list[dict[str, Any]]


def recorded() -> Entries:
    """Entries of a run that two approvers have signed, one after the other."""
    return [json.loads(text) for text in json.loads(JOURNAL.read_text(encoding="utf-8"))["entries"]]


def checked(entries: Entries) -> Report:
    """What is counted when every entry holds."""
    report = Report("journal")
    approvals = Approvals(report)
    takes: dict[str, Callable[[dict[str, Any]], None]] = {
        "wait": approvals.asked,
        "approval": approvals.approved,
        "sealed": approvals.sealed,
        "settled": approvals.settled,
    }
    for entry in entries:
        takes.get(entry["k"], lambda _: None)(entry)
    return report


def entry_of(entries: Entries, kind: str) -> dict[str, Any]:
    """The first entry of a kind."""
    return next(entry for entry in entries if entry["k"] == kind)


class ApprovalsOfARun(unittest.TestCase):
    """docs/spec/waits.md, Approvers."""

    def test_what_two_approvers_have_signed_holds(self) -> None:
        self.assertEqual(checked(recorded()).checked["signatures of approvers"], 3)

    def test_an_answer_with_other_approvals_does_not_hold(self) -> None:
        first, second = entry_of(recorded(), "sealed")["body"]["by"]["approvals"]
        others: list[Any] = [
            [],
            [first],
            [second],
            [second, first],
            [first, first],
            [first, second, second],
            [{**first, "key": second["key"]}, second],
            [{**first, "signature": second["signature"]}, second],
        ]
        for name in ("action", "digest", "token", "value"):
            others.append([first, {**second, name: "another"}])
        for approvals in others:
            with self.subTest(approvals):
                entries = copy.deepcopy(recorded())
                entry_of(entries, "sealed")["body"]["by"]["approvals"] = approvals
                with self.assertRaises(Failure):
                    checked(entries)

    def test_an_answer_without_signatures_does_not_hold(self) -> None:
        entries = recorded()
        del entry_of(entries, "sealed")["body"]["by"]["approvals"]
        with self.assertRaises(Failure):
            checked(entries)

    def test_what_is_no_list_of_approvals_does_not_hold_whatever_was_asked(self) -> None:
        for approvals in (None, [], {}, 5, "text", [None]):
            for asked in ("no wait", "no approvers", "approvers"):
                entries = [entry for entry in recorded() if entry["k"] != "approval"]
                wait = entry_of(entries, "wait")
                if asked == "no wait":
                    entries.remove(wait)
                elif asked == "no approvers":
                    del wait["approvers"]
                entry_of(entries, "sealed")["body"]["by"]["approvals"] = approvals
                with self.subTest([approvals, asked]), self.assertRaises(Failure):
                    checked(entries)

    def test_an_answer_that_was_left_out_does_not_hold(self) -> None:
        entries = recorded()
        entries.remove(entry_of(entries, "sealed"))
        with self.assertRaises(Failure):
            checked(entries)

    def test_an_approval_of_a_wait_that_does_not_name_its_key_does_not_hold(self) -> None:
        for name, value in (("threshold", 1), ("threshold", 3), ("threshold", 0), ("keys", [])):
            entries = recorded()
            entry_of(entries, "wait")["approvers"][name] = value
            with self.subTest([name, value]), self.assertRaises(Failure):
                checked(entries)
        entries = recorded()
        key = entry_of(entries, "approval")["approval"]["key"]
        entry_of(entries, "wait")["approvers"]["keys"].remove(key)
        with self.assertRaises(Failure):
            checked(entries)


if __name__ == "__main__":
    unittest.main()
