"""Obligations that a run has pinned (docs/spec/journal.md, Obligations): what was done was approved first."""

from __future__ import annotations

from typing import Any, Optional

from .approvals import check_approvers
from .definition import INTENT, nodes_of
from .report import Report, equal, require

KINDS = ("blocks", "packages", "effects")
LIMITS = ("attempts", "timeoutMs")
Place = tuple[str, int, int]


class Obligations:
    """What one run has pinned, and the approvals that its journal has.

    1. `_approved` are the places where a person has approved something: path, step, attempt, each with the keys that
       have signed an approval there, and the effect that was asked about. An approval of another question, such as
       that of a policy, is none of approvers whom an effect is obliged to ask.
    2. A fallback does not say in the journal which block an attempt ran: steps with one are passed over.
    """

    def __init__(self, started: dict[str, Any], report: Report) -> None:
        self._report = report
        self._started = started
        self._pinned: dict[str, Any] = started.get("obligations", {})
        self._approved: dict[Place, list[tuple[set[str], Optional[str]]]] = {}
        self._asked_about: dict[str, Optional[str]] = {}
        self._check_shape()

    def _check_shape(self) -> None:
        for kind in KINDS:
            for name, one in self._pinned.get(kind, {}).items():
                confirm, limits = one.get("confirm", {}), one.get("limits", {})
                message = confirm.get("message", "")
                require(isinstance(message, str), f"message of the obligation of {name}", message, "a text")
                if "approvers" in confirm:
                    check_approvers(confirm["approvers"])
                for limit in LIMITS:
                    value = limits.get(limit, 1)
                    is_limit = isinstance(value, int) and not isinstance(value, bool) and value > 0
                    require(is_limit, f"{limit} of the obligation of {name}", value, "a whole number from 1")

    def waits(self, entry: dict[str, Any]) -> None:
        """Takes a question. What an earlier attempt was answered has the hash of its request alone."""
        request = entry["request"]
        self._asked_about[entry["requestHash"]] = request.get("effect") if isinstance(request, dict) else None

    def sealed(self, entry: dict[str, Any]) -> None:
        """Takes the result of a call: an approval, or of an effect that had to be approved."""
        if not self._pinned:
            return
        body = entry["body"]
        if entry["effect"] == "wait" and entry["ok"] and isinstance(body, dict) and body.get("action") == "approve":
            by = body.get("by")
            approvals = by.get("approvals", []) if isinstance(by, dict) else []
            # What they have signed is checked in approvals.py.
            signed = {approval["key"] for approval in approvals}
            self._approved.setdefault(_place(entry), []).append((signed, self._asked_about.get(entry["requestHash"])))
        self.asked(entry)

    def asked(self, entry: dict[str, Any]) -> None:
        """Takes the request or the result of an effect."""
        if self._must_confirm("effects", entry["effect"]) and "~undo" not in entry["path"]:
            self._check(entry, "effects", entry["effect"])

    def settled(self, entry: dict[str, Any]) -> None:
        """Takes the end of an attempt."""
        if not self._pinned or not entry["response"]["success"] or "~" in entry["path"]:
            return
        provider = entry.get("provider")
        if provider is None:
            name = self._block_at(entry["path"])
            if name is not None and self._must_confirm("blocks", name):
                self._check(entry, "blocks", name)
        elif provider["kind"] == "declared" and self._must_confirm("blocks", provider["id"]):
            self._check(entry, "blocks", provider["id"])
        elif provider["kind"] == "package" and self._must_confirm("packages", provider["id"].partition("@")[0]):
            self._check(entry, "packages", provider["id"].partition("@")[0])

    def _must_confirm(self, kind: str, name: str) -> bool:
        return "confirm" in self._pinned.get(kind, {}).get(name, {})

    def _check(self, entry: dict[str, Any], kind: str, name: str) -> None:
        approvers = self._pinned[kind][name]["confirm"].get("approvers", {"keys": [], "threshold": 0})
        keys, threshold = set(approvers["keys"]), approvers["threshold"]
        approved = any(
            len(signed & keys) >= threshold and (kind != "effects" or threshold == 0 or effect == name)
            for signed, effect in self._approved.get(_place(entry), [])
        )
        equal(f"approval of the {kind[:-1]} {name}", approved, True)
        self._report.count("approvals that were obliged")

    def _block_at(self, path: str) -> Optional[str]:
        """Name and version of the block at a path, where the run's own definition tells."""
        graph = self._started["definition"]
        if graph.get("schema") == INTENT:
            return None
        for name in path.split("/")[1:]:
            node = nodes_of(graph["nodes"]).get(name) if graph is not None else None
            if node is None or any(step["kind"] == "fallback" for step in node.get("recovery", [])):
                return None
            work = node["work"]
            if work["kind"] == "block":
                block, _, version = work["block"].partition("@")
                version = version or self._started.get("pins", {}).get("blocks", {}).get(block, "")
                return f"{block}@{version}"
            graph = work.get("graph")
        return None


def _place(entry: dict[str, Any]) -> Place:
    return (entry["path"], entry["step"], entry["attempt"])
