"""Texts under keys of subjects, against the vectors and a golden ledger: docs/spec/subjects.md."""

from __future__ import annotations

import base64
import gzip
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from tally.aes_gcm import AesGcm
from tally.record import parse_record
from tally.report import Failure
from tally.subjects import SubjectKey, SubjectKeys, id_of
from tally.verifier import Options, verify

VECTORS = Path(__file__).resolve().parents[2] / "test" / "vectors"
LEDGER = VECTORS / "ledgers" / "open-subjects"


def vectors() -> Any:
    """The committed vectors."""
    return json.loads((VECTORS / "subjects.json").read_text())


class Cipher(unittest.TestCase):
    """AES-256-GCM against test cases 13 to 16 of the specification of GCM by McGrew and Viega."""

    KEY = bytes.fromhex("feffe9928665731c6d6a8f9467308308" * 2)
    NONCE = bytes.fromhex("cafebabefacedbaddecaf888")
    TEXT = bytes.fromhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255")
    PLACE = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")

    def test_it_gives_the_published_tags(self) -> None:
        empty = AesGcm(bytes(32))
        self.assertEqual(empty.encrypt(bytes(12), b"", b"").hex(), "530f8afbc74536b9a963b4f1c4cb738b")
        self.assertEqual(empty.encrypt(bytes(12), bytes(16), b"").hex(), "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
        cipher = AesGcm(self.KEY)
        self.assertEqual(cipher.encrypt(self.NONCE, self.TEXT, b"")[-16:].hex(), "b094dac5d93471bdec1a502270e3cc6c")
        placed = cipher.encrypt(self.NONCE, self.TEXT[:60], self.PLACE)
        self.assertEqual(placed[-16:].hex(), "76fc6ece0f4e1768cddf8853bb2d551b")
        self.assertEqual(cipher.decrypt(self.NONCE, placed, self.PLACE), self.TEXT[:60])
        self.assertIsNone(cipher.decrypt(self.NONCE, placed, b""))
        self.assertIsNone(cipher.decrypt(self.NONCE, placed[:-1] + bytes([placed[-1] ^ 1]), self.PLACE))


class Texts(unittest.TestCase):
    """The bytes of the vectors, computed from the specification."""

    def test_names_nonces_and_ciphertexts_are_those_of_the_vectors(self) -> None:
        for case in vectors():
            self.assertEqual(id_of(bytes.fromhex(case["blobKey"]), case["subject"]), case["id"])
            key = SubjectKey(case["id"], bytes.fromhex(case["key"]))
            self.assertEqual(key.name, case["keyName"])
            for text in case["texts"]:
                self.assertEqual(key.nonce(text["place"], text["text"]).hex(), text["nonce"])
                self.assertEqual(key.encrypt(text["place"], text["text"]), text["encrypted"])
                self.assertEqual(key.decrypt(text["place"], text["encrypted"]), text["text"])
                encoded = base64.b64decode(text["encrypted"].partition(".")[2]).hex()
                self.assertEqual(encoded, text["nonce"] + text["ciphertext"] + text["tag"])
                with self.assertRaises(Failure):
                    key.decrypt(text["place"] + "x", text["encrypted"])

    def test_a_record_is_opened_to_what_its_items_say(self) -> None:
        for case in vectors():
            keys = SubjectKeys(case["identity"], None)
            _, closed = parse_record(case["record"])
            self.assertEqual([keys.open(item) for item in closed], [0] * len(closed))
            keys.add(SubjectKey(case["id"], bytes.fromhex(case["key"])))
            _, items = parse_record(case["record"])
            for item, said in zip(items, case["items"]):
                self.assertEqual(keys.open(item), len(said["entries"]) + len(said["bodies"]))
                self.assertEqual([text for text, _ in item.journal], said["entries"])
                self.assertEqual(list(item.blobs.values()), said["bodies"])

    def test_a_second_key_of_a_subject_opens_nothing(self) -> None:
        case = vectors()[0]
        keys = SubjectKeys(case["identity"], None)
        keys.add(SubjectKey(case["id"], bytes(32)))
        _, items = parse_record(case["record"])
        self.assertEqual([keys.open(item) for item in items], [0] * len(items))

    def test_an_altered_entry_is_damage(self) -> None:
        case = vectors()[0]
        keys = SubjectKeys(case["identity"], None)
        keys.add(SubjectKey(case["id"], bytes.fromhex(case["key"])))
        for before, after in (('"at":1', '"at":3'), ('"n":0', '"n":1'), ('"name":"send"', '"name":"sent"'), ("run-1", "run-2")):
            _, items = parse_record(case["record"].replace(before, after))
            with self.subTest(after), self.assertRaises(Failure):
                for item in items:
                    keys.open(item)


class Ledger(unittest.TestCase):
    """A whole ledger with runs of three subjects, one of which was erased."""

    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        for name, encoded in json.loads(gzip.open(f"{LEDGER}.json.gz", "rt").read()).items():
            if name.startswith("subjects/"):
                path = Path(self.directory.name) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(base64.b64decode(encoded))

    def test_without_keys_it_holds_and_says_what_was_not_looked_into(self) -> None:
        report = verify(f"{LEDGER}.snapshot.gz")
        self.assertIsNone(report.failure)
        self.assertEqual(report.not_checked["journals and bodies of runs under keys of subjects"], 8)
        self.assertEqual(report.not_checked["journals and bodies of runs whose keys were erased"], 6)

    def test_with_keys_only_what_was_erased_is_not_looked_into(self) -> None:
        closed = verify(f"{LEDGER}.snapshot.gz").checked
        report = verify(f"{LEDGER}.snapshot.gz", Options(subjects=str(Path(self.directory.name) / "subjects")))
        self.assertIsNone(report.failure)
        self.assertEqual(report.not_checked["journals and bodies of runs whose keys were erased"], 6)
        self.assertNotIn("journals and bodies of runs under keys of subjects", report.not_checked)
        self.assertGreater(report.checked["texts under keys of subjects"], 100)
        for what in ("receipts compared with a journal", "sealed results", "digests of waits", "bodies in records"):
            self.assertGreater(report.checked[what], closed[what], what)


if __name__ == "__main__":
    unittest.main()
