"""Receipts and evidence alone (docs/spec/receipt.md): their members, and what follows from one record."""

from __future__ import annotations

from typing import Any

from . import ed25519
from .canonical import SIGNATURE, hash_json, hash_text, is_hash, is_integer, utf16
from .report import equal, members, require

RECEIPT = {
    "capabilitiesDeclared", "capabilitiesUsed", "dappId", "identity", "inputHash", "inputPayload", "intent",
    "nextStateRoot", "previousReceiptHash", "previousStateRoot", "publicKey", "receiptHash", "resultHash",
    "signature", "timestamp", "version",
}  # fmt: skip
INPUT = {"action", "id", "payload", "principal", "provider", "sealed", "seed", "timestamp"}
RUN = {"at", "attempt", "path", "runId", "step"}
SEALED = {"bytes", "effect", "requestHash", "responseHash", "seq"}
EVIDENCE = {
    "code", "details", "evidenceHash", "head", "identity", "inputPayload", "landed", "publicKey", "signature",
    "timestamp", "type", "version",
}  # fmt: skip
EVIDENCE_TYPES = ("abort", "denial", "failure")
ROTATION_DOMAIN = b"tallystick/rotate"
KERNEL_ID = "kernel@1"
KERNEL_HASH = hash_json({"kernel": "tally-kernel/1"})


def without(record: dict[str, Any], *names: str) -> dict[str, Any]:
    """The record without these members."""
    return {name: value for name, value in record.items() if name not in names}


def check_receipt(receipt: Any) -> None:
    """Members, and every hash and equality that needs nothing but the receipt (docs/spec/receipt.md, Receipt)."""
    members("receipt", receipt, RECEIPT)
    equal("version", receipt["version"], 1)
    for name in ("identity", "inputHash", "nextStateRoot", "previousStateRoot", "publicKey", "receiptHash", "resultHash"):
        require(is_hash(receipt[name]), name, receipt[name], "64 hex digits")
    previous = receipt["previousReceiptHash"]
    require(previous is None or is_hash(previous), "previousReceiptHash", previous, "64 hex digits or null")
    _signature(receipt["signature"])
    payload = receipt["inputPayload"]
    members("inputPayload", payload, INPUT, frozenset(("raw", "run")))
    equal("receiptHash", receipt["receiptHash"], hash_json(without(receipt, "receiptHash", "signature")))
    equal("inputHash", receipt["inputHash"], hash_json(payload))
    equal("intent", receipt["intent"], payload["action"])
    equal("timestamp", receipt["timestamp"], payload["timestamp"])
    require(is_integer(receipt["timestamp"]), "timestamp", receipt["timestamp"], "whole seconds")
    declared = _sorted("capabilitiesDeclared", receipt["capabilitiesDeclared"])
    used = _sorted("capabilitiesUsed", receipt["capabilitiesUsed"])
    require(set(used) <= set(declared), "capabilitiesUsed", used, declared)
    require(isinstance(payload["principal"], dict), "principal", payload["principal"], "an object")
    _unit(payload)
    _provider(receipt)
    check_sealed("sealed", payload["sealed"])


def _unit(payload: dict[str, Any]) -> None:
    """Unit id and seed (docs/spec/receipt.md, Input payload; docs/spec/prng.md)."""
    id = payload["id"]
    require(isinstance(id, str), "unit id", id, "text")
    members("seed", payload["seed"], {"base", "value"})
    base = payload["seed"]["base"]
    require(isinstance(base, str), "seed.base", base, "text")
    equal("seed.value", payload["seed"]["value"], hash_text("tallystick/prng" + base + id))
    if "run" not in payload:
        return
    run = payload["run"]
    members("run", run, RUN, frozenset(("contextHash", "parent", "trace")))
    require(isinstance(run["runId"], str) and isinstance(run["path"], str), "run", run, "texts")
    require(all(map(is_integer, (run["at"], run["attempt"], run["step"]))), "run", run, "integers")
    require("parent" not in run or is_hash(run["parent"]), "run.parent", run.get("parent"), "64 hex digits")
    require(is_hash(run.get("contextHash", "0" * 64)), "run.contextHash", run.get("contextHash"), "64 hex digits")
    equal("unit id", id, hash_json([run["runId"], run["path"], run["step"]]))


def _provider(receipt: dict[str, Any]) -> None:
    """Who ran (docs/spec/receipt.md, What runs)."""
    provider = receipt["inputPayload"]["provider"]
    members("provider", provider, {"codeHash", "id", "kind", "profile"})
    require(is_hash(provider["codeHash"]), "provider.codeHash", provider["codeHash"], "64 hex digits")
    profile = provider["profile"]
    texts = isinstance(profile, dict) and all(isinstance(value, str) for value in profile.values())
    require(texts, "provider.profile", profile, "an object of texts")
    kind, id = provider["kind"], provider["id"]
    named = {"declared": f"block:{id}", "composite": f"composite:{id}", "kernel": "kernel", "package": id.rpartition("@")[0]}
    require(kind in named, "provider.kind", kind, sorted(named))
    # Receipts of ledgers without runs name their providers as they like.
    if "run" in receipt["inputPayload"]:
        equal("dappId", receipt["dappId"], named[kind])
    if kind == "kernel":
        equal("provider.id", id, KERNEL_ID)
        equal("provider.codeHash", provider["codeHash"], KERNEL_HASH)


def check_sealed(name: str, sealed: Any) -> None:
    """The list of sealed results of a receipt, or of what landed of evidence."""
    require(isinstance(sealed, list), name, sealed, "a list")
    for entry in sealed:
        members(name, entry, SEALED)
        hashes = is_hash(entry["requestHash"]) and is_hash(entry["responseHash"])
        numbers = is_integer(entry["bytes"]) and is_integer(entry["seq"])
        require(hashes and numbers and isinstance(entry["effect"], str), name, entry, "a sealed result")


def check_evidence(evidence: Any) -> None:
    """Members and hash of evidence (docs/spec/receipt.md, Evidence)."""
    members("evidence", evidence, EVIDENCE, frozenset(("journalHash",)))
    equal("version", evidence["version"], 1)
    require(evidence["type"] in EVIDENCE_TYPES, "type", evidence["type"], EVIDENCE_TYPES)
    require(isinstance(evidence["code"], str), "code", evidence["code"], "text")
    require(is_integer(evidence["timestamp"]), "timestamp", evidence["timestamp"], "whole seconds")
    require(is_hash(evidence["evidenceHash"]), "evidenceHash", evidence["evidenceHash"], "64 hex digits")
    _signature(evidence["signature"])
    members("inputPayload", evidence["inputPayload"], {"action", "id", "payload"})
    members("head", evidence["head"], {"receiptHash", "seq"})
    check_sealed("landed", evidence["landed"])
    equal("evidenceHash", evidence["evidenceHash"], hash_json(without(evidence, "evidenceHash", "signature")))


def check_signature(record: dict[str, Any], hash_name: str) -> None:
    """Ed25519 by the strict rule over the 32 raw bytes of the record's hash (docs/spec/identity.md)."""
    key, message = bytes.fromhex(record["publicKey"]), bytes.fromhex(record[hash_name])
    valid = ed25519.verify(key, message, bytes.fromhex(record["signature"]))
    require(valid, "signature", record["signature"], "a valid signature of the key in force")


def rotated_key(receipt: dict[str, Any]) -> str:
    """The key that a rotation receipt puts in force, with its proof checked (docs/spec/identity.md)."""
    payload = receipt["inputPayload"]["payload"]
    members("payload of a rotation", payload, {"newPublicKey", "proof"})
    key, proof = payload["newPublicKey"], payload["proof"]
    require(is_hash(key) and ed25519.is_key(bytes.fromhex(key)), "newPublicKey", key, "a key")
    _signature(proof)
    previous = receipt["previousReceiptHash"] or "00" * 32
    message = ROTATION_DOMAIN + bytes.fromhex(receipt["identity"] + previous + key)
    valid = ed25519.verify(bytes.fromhex(key), message, bytes.fromhex(proof))
    require(valid, "proof of a rotation", proof, "a valid signature of the new key")
    return key


def _signature(value: Any) -> None:
    require(isinstance(value, str) and SIGNATURE.match(value) is not None, "signature", value, "128 hex digits")


def _sorted(name: str, value: Any) -> list[str]:
    texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    require(texts, name, value, "a list of texts")
    equal(name, value, sorted(set(value), key=utf16))
    return value
