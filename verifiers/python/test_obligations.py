"""Obligations against a recorded journal of test/vectors: `python3 -m unittest` in this directory."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any, Callable

from tally.canonical import hash_json
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
        if entry["k"] == "wait":
            obligations.waits(entry)
        if entry["k"] == "sealed":
            obligations.sealed(entry)
        if entry["k"] == "settled":
            obligations.settled(entry)
    return report.checked.get("approvals that were obliged", 0)


PAY = {"effects": {"pay": {"confirm": {}}, "agent.tool.pay": {"confirm": {}}}}


def sealed(seq: int, effect: str, request_hash: str, body: Any) -> dict[str, Any]:
    place = {"path": "root/a", "step": 1, "attempt": 1}
    return {**place, "seq": seq, "effect": effect, "ok": True, "requestHash": request_hash, "body": body}


def call(seq: int, sent: Any, name: str = "pay") -> dict[str, Any]:
    """The result of an effect."""
    return sealed(seq, name, hash_json({"effect": name, "request": sent}), None)


def holds(name: str, steps: str) -> bool:
    """Whether a journal holds; `=` repeats the last step."""
    obligations = Obligations({"obligations": PAY, "definition": None}, Report("a journal"))
    seqs: dict[str, int] = {}
    last = {"seq": 0}
    dropping = False
    try:
        for letter in steps:
            if letter == "-":
                dropping = True
                continue
            if dropping:
                obligations.rewound({**last, "dropped": [seqs[letter]]})
                dropping = False
                continue
            if letter == "=":
                obligations.sealed(last)
                continue
            seq = seqs[letter] = last["seq"] + 1
            if letter.islower():
                last = call(seq, letter, name)
            else:
                sent = letter.lower()
                tool = {"kind": "tool_call", "tool": "pay", "arguments": sent}
                asked = {"reason": "confirmation", "request": tool} if name != "pay" else {"effect": name, "payload": sent}
                obligations.waits({"requestHash": letter, "request": asked})
                last = sealed(seq, "wait", letter, {"action": "approve", "by": None})
            obligations.sealed(last)
    except Failure:
        return False
    return True


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
        approved = {"action": "approve", "by": {"approvals": [{"key": "11" * 32}]}}

        def taken_with(request: Any) -> None:
            obligations = Obligations({"obligations": obliged, "definition": None}, Report("a journal"))
            obligations.waits({"requestHash": "aa", "request": request})
            obligations.sealed(sealed(1, "wait", "aa", approved))
            obligations.sealed(call(2, None))

        taken_with({"effect": "pay", "payload": None})
        own = {"reason": "confirmation", "request": "pay?"}
        tool = {"reason": "confirmation", "request": {"kind": "tool_call", "tool": "pay", "arguments": None}}
        for request in (own, tool, {"effect": "look", "payload": None}, {"effect": "pay", "payload": 1}, {"payload": "pay"}, None):
            with self.subTest(request), self.assertRaises(Failure):
                taken_with(request)

    def test_each_call_of_an_effect_has_an_approval_of_its_own(self) -> None:
        """Letters are what is sent: `a` the call of an effect, `A` the approval of it, `-a` and `-A` that they are dropped."""
        honest = ("Aa", "AaAa", "AAaa", "AaBb", "ABba", "AaBbAa", "Aa=", "Aa-aa", "Aa-a-AAa")
        forged = ("a", "aA", "Aaa", "AaAaa", "Ab", "AAab", "aAA", "AaaA", "Aa-Aa", "Aa-A-aa", "ABaa")
        for name in ("pay", "agent.tool.pay"):
            for steps in honest:
                with self.subTest(name=name, steps=steps):
                    self.assertTrue(holds(name, steps))
            for steps in forged:
                with self.subTest(name=name, steps=steps):
                    self.assertFalse(holds(name, steps))

    def test_a_question_in_the_own_words_of_code_is_enough_without_approvers(self) -> None:
        def taken_with(request: Any) -> None:
            obligations = Obligations({"obligations": PAY, "definition": None}, Report("a journal"))
            obligations.waits({"requestHash": "aa", "request": request})
            obligations.sealed(sealed(1, "wait", "aa", {"action": "approve", "by": None}))
            obligations.sealed(call(2, None))

        taken_with({"reason": "confirmation", "request": "pay?"})
        for request in ({"reason": "permission", "request": "pay?"}, {"block": "pay", "reason": "confirmation"}):
            with self.subTest(request), self.assertRaises(Failure):
                taken_with(request)

    def test_limits_that_are_none_are_found(self) -> None:
        def change(entry: dict[str, Any]) -> bool:
            if entry["k"] == "run.started":
                entry["obligations"]["blocks"]["obliged@1.0.0"]["limits"]["attempts"] = 0
            return True

        with self.assertRaises(Failure):
            taken(change)


if __name__ == "__main__":
    unittest.main()
