"""Primitives against published vectors and those of test/vectors: `python3 -m unittest` in this directory."""

from __future__ import annotations

import hashlib
import json
import math
import unittest
from pathlib import Path
from typing import Any

from tally import approvals, ed25519
from tally.canonical import canonical, hash_json, is_ledger_value, number_text, parse, parse_canonical, sha256
from tally.merkle import MerkleTree, leaf_hash
from tally.note import key_id, parse_note, signed_by
from tally.records import check_receipt, check_signature
from tally.report import Failure
from tally.state_tree import StateTree

VECTORS = Path(__file__).resolve().parents[2] / "test" / "vectors"


def vectors(name: str) -> Any:
    """A file of committed vectors."""
    return json.loads((VECTORS / name).read_text())


class Signatures(unittest.TestCase):
    """docs/spec/identity.md, the strict signature rule."""

    def test_the_signatures_of_rfc_8032_are_valid(self) -> None:
        for case in vectors("ed25519-rfc8032.json"):
            with self.subTest(case["name"]):
                key, message, signature = (bytes.fromhex(case[name]) for name in ("publicKey", "message", "signature"))
                self.assertTrue(ed25519.verify(key, message, signature))
                self.assertFalse(ed25519.verify(key, message + b"x", signature))
                altered = bytes([signature[0] ^ 1]) + signature[1:]
                self.assertFalse(ed25519.verify(key, message, altered))

    def test_every_hostile_signature_gets_the_verdict_of_its_vector(self) -> None:
        cases = vectors("ed25519-strict.json")
        self.assertGreater(len(cases), 100)
        self.assertEqual({case["valid"] for case in cases}, {True, False})
        for case in cases:
            with self.subTest(case["name"]):
                key, message, signature = (bytes.fromhex(case[name]) for name in ("publicKey", "message", "signature"))
                self.assertEqual(ed25519.verify(key, message, signature), case["valid"])

    def test_approvals_have_the_bytes_of_their_vectors(self) -> None:
        for case in vectors("approval.json"):
            approval, wait = case["approval"], dict(case["wait"])
            approvals.check_signature(approval)
            policy_hash = approvals.policy_hash(wait.pop("approvers", None))
            self.assertEqual(policy_hash, case["policyHash"])
            covered = {"arguments": wait.pop("request"), "chain": None, "policyHash": policy_hash, "signer": None, **wait}
            self.assertEqual(hash_json(covered), case["digest"])
            for name in ("action", "digest", "token", "value"):
                with self.assertRaises(Failure):
                    approvals.check_signature({**approval, name: "another"})

    def test_a_table_multiplies_as_doubling_and_adding_does(self) -> None:
        for scalar in (0, 1, 15, 16, 2**252 - 1, ed25519.L - 1, 2**256 - 1):
            total, point = ed25519.IDENTITY, ed25519.BASE[0][1]
            for bit in range(256):
                if scalar >> bit & 1:
                    total = ed25519.add(total, point)
                point = ed25519.add(point, point)
            self.assertEqual(ed25519.encode(ed25519.multiply(ed25519.BASE, scalar)), ed25519.encode(total))


class Json(unittest.TestCase):
    """docs/spec/canonical-json.md; the numbers are those of RFC 8785, appendix B, and of ECMAScript's borders."""

    def test_numbers_are_written_as_ecmascript_writes_them(self) -> None:
        cases = {
            0.0: "0", -0.0: "0", 5e-324: "5e-324", -5e-324: "-5e-324", 1.7976931348623157e308: "1.7976931348623157e+308",
            9007199254740992.0: "9007199254740992", 295147905179352830000.0: "295147905179352830000",
            9.999999999999997e22: "9.999999999999997e+22", 1e23: "1e+23", 1.0000000000000001e23: "1.0000000000000001e+23",
            999999999999999700000.0: "999999999999999700000", 999999999999999900000.0: "999999999999999900000", 1e21: "1e+21",
            9.999999999999997e-7: "9.999999999999997e-7", 0.000001: "0.000001", 333333333.3333332: "333333333.3333332",
            333333333.33333325: "333333333.33333325", -0.0000033333333333333333: "-0.0000033333333333333333",
            1424953923781206.2: "1424953923781206.2", 1e-7: "1e-7", 123.0: "123", 0.1: "0.1", 100.5: "100.5", 1.5e300: "1.5e+300",
        }  # fmt: skip
        for value, text in cases.items():
            self.assertEqual(number_text(value), text)
            self.assertEqual(float(text), value)

    def test_written_numbers_are_read_to_the_same_double(self) -> None:
        seed = b"numbers"
        for _ in range(5000):
            seed = hashlib.sha256(seed).digest()
            value = float.fromhex(f"{'-' if seed[0] & 1 else ''}0x1.{seed[1:8].hex()}p{int.from_bytes(seed[8:10], 'big') % 2040 - 1020}")
            self.assertTrue(math.isfinite(value))
            self.assertEqual(float(number_text(value)), value)

    def test_keys_ascend_by_utf_16_and_text_is_escaped_as_little_as_possible(self) -> None:
        value = {"\ue000": 1, "\U0001f600": 2, "a": '"\\\b\f\n\r\t\x00\x7f\u2028é', "": [True, False, None, {}, []]}
        text = '{"":[true,false,null,{},[]],"a":"\\"\\\\\\b\\f\\n\\r\\t\\u0000\x7f\u2028é","\U0001f600":2,"\ue000":1}'
        self.assertEqual(canonical(value), text)
        self.assertEqual(parse_canonical(text), value)

    def test_text_that_is_not_canonical_is_refused(self) -> None:
        for text in ('{"b":1,"a":2}', '{"a":1,"a":1}', "1.0", "-0", "1e2", " 1", "[1, 2]", '"\\u00e9"', '"\\/"', "NaN",
                     '"\\ud800"', "\ufeff1", "1 ", "", "9007199254740993", "01", "1e400"):  # fmt: skip
            with self.subTest(text), self.assertRaises(ValueError):
                parse_canonical(text)

    def test_ledger_values_have_neither_unsafe_integers_nor_keys_of_ours(self) -> None:
        for text in ("9007199254740992", "1e+21", '{"$blob":"x"}', '[{"$a":1}]'):
            self.assertFalse(is_ledger_value(parse(text)))
        for text in ("9007199254740991", "0.5", '{"a$":[1,-7]}', "1e-7"):
            self.assertTrue(is_ledger_value(parse(text)))


class Trees(unittest.TestCase):
    """docs/spec/state-root.md and docs/spec/log-and-notes.md."""

    def test_states_have_the_storage_roots_of_the_vectors(self) -> None:
        for tree in vectors("state-tree.json")["trees"]:
            for entries in (tree["entries"], tree["entries"][::-1]):
                state = StateTree()
                for entry in entries:
                    state.set(entry["key"], b"\x00" * 32)
                    state.set(entry["key"], bytes.fromhex(sha256(entry["valueText"].encode())))
                self.assertEqual(state.root().hex(), tree["root"])
                self.assertEqual(state.size, len(entries))

    def test_a_state_forgets_what_was_deleted(self) -> None:
        state, roots = StateTree(), []
        for n in range(200):
            roots.append(state.root())
            state.set(f"key/{n}", hashlib.sha256(b"%d" % n).digest())
        for n in reversed(range(200)):
            state.delete(f"key/{n}")
            self.assertEqual(state.root(), roots[n])
            self.assertIsNone(state.get(f"key/{n}"))

    def test_logs_have_the_roots_of_certificate_transparency(self) -> None:
        small = vectors("merkle-log.json")["small"]
        log = MerkleTree()
        for leaf, hash, root in zip(small["leavesHex"], small["leafHashes"], small["roots"]):
            self.assertEqual(leaf_hash(bytes.fromhex(leaf)).hex(), hash)
            log.append(bytes.fromhex(leaf))
            self.assertEqual(log.root().hex(), root)


class Notes(unittest.TestCase):
    """docs/spec/log-and-notes.md, Notes."""

    def setUp(self) -> None:
        self.log = vectors("note.json")["log"]
        self.key = bytes.fromhex(self.log["note"]["origin"].split("/")[1])

    def test_the_note_of_the_vectors_is_read_and_verifies(self) -> None:
        note = parse_note(self.log["encoded"])
        self.assertEqual([note.size, note.root, note.state_root], [self.log["note"][name] for name in ("size", "root", "stateRoot")])
        self.assertTrue(signed_by(note, self.key))
        self.assertIn("+" + key_id(note.origin, self.key).hex() + "+", self.log["verifierKey"])

    def test_an_altered_note_is_not_taken(self) -> None:
        text = self.log["encoded"]
        with self.assertRaises(ValueError):
            signed_by(parse_note(text.replace("\n8\n", "\n9\n")), self.key)
        for altered in (text.replace("\n8\n", "\n08\n"), text[:-1], text.replace("\n8\n", "\n8\n\n"), text.replace("=\n", "\n", 1),
                        text.replace("\u2014", "-"), text + "\x00\n", ""):  # fmt: skip
            with self.subTest(altered), self.assertRaises(ValueError):
                parse_note(altered)


class Receipts(unittest.TestCase):
    """docs/spec/receipt.md."""

    def setUp(self) -> None:
        self.texts = vectors("receipt.json")["receipts"]

    def test_the_receipts_of_the_vectors_hold(self) -> None:
        for text in self.texts:
            receipt = parse_canonical(text)
            check_receipt(receipt)
            check_signature(receipt, "receiptHash")

    def test_every_changed_member_of_a_receipt_is_noticed(self) -> None:
        for name, value in parse_canonical(self.texts[0]).items():
            receipt = parse_canonical(self.texts[0])
            receipt[name] = "x" if isinstance(value, str) else ["x"]
            with self.subTest(name), self.assertRaises((Failure, TypeError)):
                check_receipt(receipt)
                self.fail("accepted")

    def test_a_receipt_that_was_hashed_again_fails_by_its_signature(self) -> None:
        receipt = parse_canonical(self.texts[0])
        receipt["dappId"] = "block:other@1.0.0"
        receipt["receiptHash"] = hash_json({name: value for name, value in receipt.items() if name not in ("receiptHash", "signature")})
        check_receipt(receipt)
        with self.assertRaises(Failure):
            check_signature(receipt, "receiptHash")


if __name__ == "__main__":
    unittest.main()
