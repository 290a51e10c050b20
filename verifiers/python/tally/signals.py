"""Signals of one run (docs/spec/waits.md, Signals)."""

from __future__ import annotations

from typing import Any

from .canonical import hash_json
from .report import Report, equal, require

EFFECT = "run.signal"
"""Effect of a call that a signal ends."""


def is_for_signal(wait: dict[str, Any]) -> bool:
    """Whether a signal ends a wait."""
    return wait["reason"] == "external" and wait["actions"] == ["signal"]


class Signals:
    """What a run was sent, and what was taken for good.

    1. An id names one signal of the run.
    2. What a call was given is a signal of the name that it asks for, as it was sent.
    3. What a unit of work outside of atomic composites has taken is never taken again. Attempts that are cancelled leave
       no entry, so what an unfinished one has taken may be taken again.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._sent: dict[str, dict[str, Any]] = {}
        self._taken: dict[tuple[str, int, int], dict[int, str]] = {}
        self._kept: set[str] = set()

    def sent(self, entry: dict[str, Any]) -> None:
        """A signal was accepted."""
        require(entry["id"] not in self._sent, "id of a signal", entry["id"], "one that no other has")
        self._sent[entry["id"]] = entry
        self._report.count("signals")

    def sealed(self, entry: dict[str, Any]) -> None:
        """A call was given one, or its time was over."""
        body = entry["body"]
        if entry["effect"] != EFFECT or entry["ok"] is not True or body.get("action") == "timeout":
            return
        sent = self._sent.get(body.get("id"))
        require(sent is not None, "signal that was taken", body.get("id"), sorted(self._sent))
        assert sent is not None
        asked = hash_json({"effect": EFFECT, "request": {"signal": sent["name"]}})
        equal("request hash of a call for a signal", entry["requestHash"], asked)
        expected = {"action": "signal", **{name: sent[name] for name in ("at", "by", "id", "value")}}
        equal("signal that was taken", body, expected)
        require(sent["id"] not in self._kept, "signal that is taken again", sent["id"], None)
        self._taken.setdefault(_place(entry), {})[entry["seq"]] = sent["id"]
        self._report.count("signals taken")

    def rewound(self, entry: dict[str, Any]) -> None:
        """Results were dropped: what they had taken comes back."""
        for seq in entry["dropped"]:
            self._taken.get(_place(entry), {}).pop(seq, None)

    def settled(self, entry: dict[str, Any]) -> None:
        """An attempt has ended: what it took is taken for good, if it has succeeded by itself."""
        taken = self._taken.pop(_place(entry), {})
        if entry["response"].get("success") is True and "overlay" not in entry:
            self._kept.update(taken.values())


def _place(entry: dict[str, Any]) -> tuple[str, int, int]:
    return (entry["path"], entry["step"], entry["attempt"])
