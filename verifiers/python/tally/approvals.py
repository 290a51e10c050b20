"""Signed answers to waits (docs/spec/waits.md, Approvers)."""

from __future__ import annotations

import hashlib
from typing import Any, Optional

from .canonical import canonical, hash_json, is_integer
from .ed25519 import verify
from .report import Report, equal, members, require

DOMAIN = b"tallystick/approval/2"
APPROVERS_MAX = 32
TEXTS = ("action", "digest", "key", "signature", "token")
SIGNED = {*TEXTS, "value"}


def policy_hash(approvers: Optional[dict[str, Any]]) -> Optional[str]:
    """`policyHash` of a digest: null without approvers."""
    return None if approvers is None else hash_json({"approvers": approvers})


def check_approvers(approvers: Any) -> None:
    """Keys are sorted, each once, and as many can sign as have to."""
    members("approvers", approvers, {"keys", "threshold"})
    keys, threshold = approvers["keys"], approvers["threshold"]
    require(isinstance(keys, list) and 1 <= len(keys) <= APPROVERS_MAX, "keys of approvers", keys)
    require(all(_is_hex(key, 64) for key in keys), "keys of approvers", keys)
    equal("order of approvers", keys, sorted(set(keys)))
    require(is_integer(threshold) and 1 <= threshold <= len(keys), "threshold of approvers", threshold, len(keys))


def check_signature(approval: Any) -> None:
    """An approval has its members, and its key has signed the others."""
    members("approval", approval, SIGNED)
    require(all(isinstance(approval[name], str) for name in TEXTS), "members of an approval", approval)
    key, signature = approval["key"], approval["signature"]
    require(_is_hex(key, 64) and _is_hex(signature, 128), "key and signature of an approval", key, signature)
    said = {name: approval[name] for name in SIGNED if name != "signature"}
    message = DOMAIN + hashlib.sha256(canonical(said).encode()).digest()
    require(verify(bytes.fromhex(key), message, bytes.fromhex(signature)), "signature of an approval", signature, key)


class Approvals:
    """What approvers have signed in one run, by the place of the call that waits."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._asked: dict[str, dict[str, Any]] = {}
        self._tokens: dict[str, str] = {}
        self._given: dict[str, list[dict[str, Any]]] = {}
        self._result: list[Any] = []

    def asked(self, entry: dict[str, Any]) -> None:
        """A wait begins; one that the same call has begun before is over."""
        if "approvers" in entry:
            require(entry["actions"] in (["approve", "deny"], ["resume", "deny"]), "approvers of a wait", entry["actions"])
            check_approvers(entry["approvers"])
        self._asked[_place(entry)] = entry
        self._tokens[entry["token"]] = _place(entry)
        self._given.pop(entry["token"], None)

    def given(self, token: str) -> list[dict[str, Any]]:
        """What has been signed of an open wait."""
        return self._given.get(token, [])

    def approved(self, entry: dict[str, Any]) -> None:
        """One of several approvers has signed."""
        wait = self._asked.get(_place(entry))
        require(wait is not None and "approvers" in wait, "wait with approvers", entry["token"])
        assert wait is not None
        approval = entry["approval"]
        equal("token of an approval", entry["token"], wait["token"])
        self._check(wait, approval)
        require(approval["action"] in wait["actions"] and approval["action"] != "deny", "action of an approval", approval["action"])
        given = self.given(wait["token"])
        require(all(_said(one) != _said(approval) or one["key"] != approval["key"] for one in given), "approval of a key that has signed the same")
        require(self._quorum(wait, approval) is None, "approval that is enough, and ends nothing", approval)
        others = [one for one in given if one["key"] != approval["key"]]
        self._given[wait["token"]] = [*others, approval]

    def sealed(self, entry: dict[str, Any]) -> None:
        """The answer to a wait of code, or to the confirmation of a node."""
        if self._result != []:
            equal("result that was signed", canonical(entry["body"]), canonical(self._result.pop()))
        wait = self._asked.pop(_place(entry), None)
        body = entry["body"]
        if entry["effect"] != "wait" or not isinstance(body, dict) or body.get("action") == "timeout":
            return
        if wait is None or wait["requestHash"] != entry["requestHash"]:
            # What an earlier attempt was answered, for code that asks for the same.
            self._loose(body.get("by"))
            return
        equal("digest of an answer", body.get("digest"), wait["digest"])
        self._answer(wait, body.get("action"), body.get("by"), [body.get("value")])

    def settled(self, entry: dict[str, Any]) -> None:
        """The denial of a confirmation ends its node."""
        wait = self._asked.pop(_place({**entry, "seq": 0}), None)
        response = entry["response"]
        if wait is None:
            return
        require(response["success"] is not True or "approvers" not in wait, "success without an answer", wait["token"])
        if response.get("reason") == "denied":
            self._answer(wait, "deny", response["details"].get("by"), [])

    def decided(self, entry: dict[str, Any]) -> None:
        """A decision about a failure, or about an unknown outcome."""
        wait = self._asked.get(self._tokens.get(entry["token"], ""))
        value = [entry["patch"]] if "patch" in entry else []
        if wait is None:
            self._loose(entry["by"])
        else:
            self._answer(wait, entry["action"], entry["by"], value)
        if entry["k"] == "answered" and entry["action"] == "resume":
            # The entry does not keep the result of an unknown outcome: it is sealed next.
            self._result = [approval["value"] for approval in (_approvals_in(entry["by"]) or [])[:1]]

    def _answer(self, wait: dict[str, Any], action: Any, by: Any, value: list[Any]) -> None:
        approvals = _approvals_in(by)
        if approvals is None:
            require("approvers" not in wait, "approvals of an answer", None, wait.get("approvers"))
            return
        for approval in approvals:
            self._check(wait, approval)
            equal("action of an approval", approval["action"], action)
            if value != []:
                equal("value of an approval", canonical(approval["value"]), canonical(value[0]))
        equal("approvals of an answer", approvals, self._quorum(wait, approvals[-1]))

    def _quorum(self, wait: dict[str, Any], approval: dict[str, Any]) -> Optional[list[dict[str, Any]]]:
        """The approvals with which this one ends the wait, or None while others have to sign."""
        if "approvers" not in wait or approval["action"] == "deny":
            return [approval]
        given = self.given(wait["token"])
        same = [one for one in given if one["key"] != approval["key"] and _said(one) == _said(approval)]
        return None if len(same) + 1 < wait["approvers"]["threshold"] else [*same, approval]

    def _check(self, wait: dict[str, Any], approval: Any) -> None:
        check_signature(approval)
        equal("digest of an approval", approval["digest"], wait["digest"])
        equal("token of an approval", approval["token"], wait["token"])
        if "approvers" in wait:
            require(approval["key"] in wait["approvers"]["keys"], "key of an approval", approval["key"], wait["approvers"]["keys"])
        self._report.count("signatures of approvers")

    def _loose(self, by: Any) -> None:
        for approval in _approvals_in(by) or []:
            check_signature(approval)
            self._report.count("signatures of approvers")


def _approvals_in(by: Any) -> Optional[list[Any]]:
    """What approvers have signed, or None for nothing: a list with something in it."""
    if not isinstance(by, dict) or "approvals" not in by:
        return None
    approvals = by["approvals"]
    require(isinstance(approvals, list) and approvals != [], "approvals of an answer", approvals)
    return list(approvals)


def _place(entry: dict[str, Any]) -> str:
    return canonical([entry["path"], entry["step"], entry["attempt"], entry["seq"]])


def _said(approval: dict[str, Any]) -> str:
    return canonical([approval["action"], approval["value"]])


def _is_hex(text: Any, digits: int) -> bool:
    return isinstance(text, str) and len(text) == digits and all(digit in "0123456789abcdef" for digit in text)
