"""Obligations that a run has pinned (docs/spec/journal.md, Obligations): what was done was approved first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from .approvals import check_approvers
from .canonical import hash_json
from .definition import INTENT, nodes_of
from .report import Report, equal, require

KINDS = ("blocks", "packages", "effects")
LIMITS = ("attempts", "timeoutMs")
TOOL = "agent.tool."
Place = tuple[str, int, int]


@dataclass
class _Approval:
    """What a person has approved in an attempt: the number of the wait, who has signed, and what was shown."""

    seq: int
    signed: set[str]
    request: Any
    used_by: Optional[int] = None
    """Number of the call that it was given for, of a question about one effect."""


class Obligations:
    """What one run has pinned, and the approvals that its journal has.

    1. `_approved` are the places where a person has approved something: path, step, attempt. Each question about an
       effect is about one call of it, with what was sent then; that of a policy is none of approvers whom an effect
       is obliged to ask.
    2. A fallback does not say in the journal which block an attempt ran: steps with one are passed over.
    """

    def __init__(self, started: dict[str, Any], report: Report) -> None:
        self._report = report
        self._started = started
        self._pinned: dict[str, Any] = started.get("obligations", {})
        self._approved: dict[Place, list[_Approval]] = {}
        self._checked: set[tuple[Place, int]] = set()
        self._shown: dict[str, Any] = {}
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
        self._shown[entry["requestHash"]] = entry["request"]

    def rewound(self, entry: dict[str, Any]) -> None:
        """Takes back results that the code, run again on another state, has not asked for."""
        place, dropped = _place(entry), set(entry["dropped"])
        self._checked -= {(place, seq) for seq in dropped}
        self._approved[place] = [one for one in self._approved.get(place, []) if one.seq not in dropped]
        for approval in self._approved[place]:
            approval.used_by = None if approval.used_by in dropped else approval.used_by

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
            approval = _Approval(entry["seq"], signed, self._shown.get(entry["requestHash"]))
            self._approved.setdefault(_place(entry), []).append(approval)
        self.asked(entry)

    def asked(self, entry: dict[str, Any]) -> None:
        """Takes the request or the result of an effect."""
        name = entry["effect"]
        if not self._must_confirm("effects", name) or "~undo" in entry["path"]:
            return
        place, seq = _place(entry), entry["seq"]
        if (place, seq) in self._checked:
            return
        self._checked.add((place, seq))
        # Of the approvals before a call the last: those before it can be of more calls.
        before = [one for one in self._approved.get(place, []) if one.seq < seq and one.used_by is None]
        before = self._signed(before, "effects", name)
        own = [one for one in before if _is_question_of(one.request, entry)]
        if own:
            max(own, key=lambda one: one.seq).used_by = seq
        is_approved = bool(own) or (self._threshold("effects", name) == 0 and any(_is_own(one.request) for one in before))
        equal(f"approval of the effect {name}", is_approved, True)
        self._report.count("approvals that were obliged")

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
        found = self._signed(self._approved.get(_place(entry), []), kind, name)
        names = (name, name.partition("@")[0])
        is_approved = any(_is_about(one.request) and one.request["block"] in names for one in found)
        equal(f"approval of the {kind[:-1]} {name}", is_approved, True)
        self._report.count("approvals that were obliged")

    def _threshold(self, kind: str, name: str) -> int:
        threshold: int = self._pinned[kind][name]["confirm"].get("approvers", {"threshold": 0})["threshold"]
        return threshold

    def _signed(self, approvals: list[_Approval], kind: str, name: str) -> list[_Approval]:
        """Those that enough of the pinned approvers have signed."""
        keys = set(self._pinned[kind][name]["confirm"].get("approvers", {"keys": []})["keys"])
        return [one for one in approvals if len(one.signed & keys) >= self._threshold(kind, name)]

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


def _is_about(request: Any) -> bool:
    """Whether a question is about a block or a package, and not about an effect of it."""
    return isinstance(request, dict) and "block" in request and "effect" not in request


def _is_own(request: Any) -> bool:
    """Whether code has asked, in its own words, before an effect that needs no second question."""
    if not isinstance(request, dict) or set(request) != {"reason", "request"}:
        return False
    return request["reason"] == "confirmation" and not _is_tool_call(request["request"])


def _is_question_of(request: Any, call: dict[str, Any]) -> bool:
    """Whether a question is about this call: the effect, and what is sent."""
    name = call["effect"]
    if not isinstance(request, dict):
        return False
    if "effect" in request:
        asked, sent = request["effect"], request.get("payload")
    elif _is_tool_call(request.get("request")):
        asked, sent = TOOL + str(request["request"].get("tool")), request["request"].get("arguments")
    else:
        return False
    return bool(asked == name and hash_json({"effect": name, "request": sent}) == call["requestHash"])


def _is_tool_call(shown: Any) -> bool:
    return isinstance(shown, dict) and shown.get("kind") == "tool_call"


def _place(entry: dict[str, Any]) -> Place:
    return (entry["path"], entry["step"], entry["attempt"])
