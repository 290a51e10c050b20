"""The chain of receipts with its state and log (docs/spec/receipt.md, Verifying a chain)."""

from __future__ import annotations

from typing import Any, Optional

from .blobs import Blobs, Body, reference
from .canonical import hash_json, hash_text, is_hash, utf16
from .merkle import MerkleTree, leaf_hash
from .note import Note
from .record import Item
from .records import check_evidence, check_receipt, check_signature, rotated_key
from .report import Report, equal, members, require
from .state_tree import PACKAGES, StateTree, state_root

GENESIS = "GENESIS"
ROTATE = "system.key.rotate"


class Chain:
    """Takes receipts and evidence in the order of the log.

    1. `key` is the key in force: that of the identity, until a rotation receipt names another.
    2. `root` is the `nextStateRoot` of the last receipt, which the next one's `previousStateRoot` equals.
    3. `tree` holds the state that the write sets up to here give.
    """

    def __init__(self, identity: str, report: Report, blobs: Blobs, every_signature: bool) -> None:
        self.identity = identity
        self.key = identity
        self.keys = [identity]
        self.tree = StateTree()
        self.receipts = 0
        self.last_hash: Optional[str] = None
        self.previous_hash: Optional[str] = None
        self.rotations: list[str] = []
        self._packages: dict[str, str] = {}
        self._log = MerkleTree()
        self._report = report
        self._blobs = blobs
        self._every_signature = every_signature
        self._last: Optional[dict[str, Any]] = None
        self._hashes: dict[str, int] = {}
        self._units: set[bytes] = set()
        self._leaves = bytearray()
        self._heads = bytearray(bytes.fromhex(self.head_root()))
        self.root = self.head_root()

    @property
    def log_size(self) -> int:
        """Records of the log so far."""
        return self._log.size

    def log_edge(self) -> str:
        """Right edge of the log so far."""
        return self._log.edge().hex()

    def log_root(self) -> str:
        """Root of the log so far."""
        return self._log.root().hex()

    def storage_root(self) -> str:
        """Storage root of the state so far."""
        return self.tree.root().hex()

    def head_root(self) -> str:
        """State root with the last receipt as commitment (docs/spec/state-root.md)."""
        return self._state_root(self.last_hash)

    def is_receipt(self, hash: str) -> bool:
        """Whether a hash is that of a receipt so far."""
        return hash in self._hashes

    def place_of(self, hash: str) -> Optional[int]:
        """The number of a receipt in the chain."""
        return self._hashes.get(hash)

    def receipt(self, item: Item) -> Body:
        """Checks the receipt of an item with its write set; gives the body of its result."""
        assert item.receipt is not None and item.result is not None and item.writes is not None
        text, receipt = item.receipt
        check_receipt(receipt)
        equal("identity", receipt["identity"], self.identity)
        equal("publicKey", receipt["publicKey"], self.key)
        equal("previousReceiptHash", receipt["previousReceiptHash"], self.last_hash)
        equal("resultHash", receipt["resultHash"], hash_text(item.result[0]))
        equal("previousStateRoot", receipt["previousStateRoot"], self.root)
        payload = receipt["inputPayload"]
        base = payload["seed"]["base"]
        require(base == GENESIS or base in self._hashes, "seed.base", base, "the hash of an earlier receipt")
        unit = bytes.fromhex(hash_text(payload["id"]))
        require(unit not in self._units, "unit id", payload["id"], "an id that no earlier receipt has")
        self._units.add(unit)
        self._blobs.field("payload", payload["payload"], item, True)
        if "raw" in payload:
            self._blobs.field("raw", payload["raw"], item, True)
        result = self._blobs.field("result", item.result[1], item, True)
        self._apply(item.writes, item)
        if receipt["intent"] == ROTATE:
            self.key = rotated_key(receipt)
            self.keys.append(self.key)
            self.rotations.append(text)
            self._report.count("key rotations")
        computed = self._state_root(self.last_hash)
        equal("nextStateRoot", receipt["nextStateRoot"], computed)
        self.root = computed
        self._last = receipt
        if self._every_signature:
            self._signature(receipt)
        self.previous_hash = self.last_hash
        self.last_hash = receipt["receiptHash"]
        self._hashes[receipt["receiptHash"]] = self.receipts
        self.receipts += 1
        self._append(text)
        self._report.count("receipts")
        return result

    def evidence(self, item: Item) -> None:
        """Checks the evidence of an item."""
        assert item.evidence is not None
        text, evidence = item.evidence
        check_evidence(evidence)
        equal("identity", evidence["identity"], self.identity)
        equal("publicKey", evidence["publicKey"], self.key)
        equal("head", evidence["head"], {"receiptHash": self.last_hash, "seq": self.receipts})
        self._blobs.field("payload", evidence["inputPayload"]["payload"], item, True)
        self._blobs.said("details", evidence["details"], item)
        check_signature(evidence, "evidenceHash")
        self._append(text)
        self._report.count("evidence records")
        self._report.count("signatures")

    def end(self) -> None:
        """The signature of the last receipt endorses all before it, when only that is wanted."""
        if self._last is not None and not self._every_signature:
            self._signature(self._last)
            self._report.skip("signatures of receipts before the last", self.receipts - 1)

    def has(self, key: str) -> bool:
        """Whether the state so far has an entry."""
        return self.tree.get(key) is not None

    def check_note(self, note: Note, name: str) -> None:
        """The note must say what log and state were at its size."""
        require(note.size <= self.log_size, f"size of {name}: records are missing", note.size, self.log_size)
        tree = MerkleTree()
        for at in range(0, 32 * note.size, 32):
            tree.append_hash(bytes(self._leaves[at : at + 32]))
        equal(f"root of {name}", note.root, tree.root().hex())
        head_root = self._heads[32 * note.size : 32 * note.size + 32]
        equal(f"state root of {name}", note.state_root, head_root.hex())

    def _signature(self, receipt: dict[str, Any]) -> None:
        check_signature(receipt, "receiptHash")
        self._report.count("signatures")

    def _state_root(self, commitment: Optional[str]) -> str:
        return state_root(self.key, self._packages, commitment, self.storage_root())

    def _append(self, text: str) -> None:
        """Adds a record to the log, and keeps what a note of this size would have to say."""
        leaf = leaf_hash(text.encode())
        self._log.append_hash(leaf)
        self._leaves += leaf
        self._heads += bytes.fromhex(self.head_root())

    def _apply(self, writes: list[Any], item: Item) -> None:
        """Applies a write set; what it says stood there before must stand there."""
        last = None
        for write in writes:
            members("write", write, {"key"}, frozenset(("after", "before")))
            key = write["key"]
            require(isinstance(key, str), "key of a write", key, "text")
            require(last is None or utf16(last) < utf16(key), "order of the write set", key, last)
            last = key
            before = self._value_hash("before", write, item)
            after = self._value_hash("after", write, item)
            current = self.tree.get(key)
            equal(f"before of {key}", before, None if current is None else current.hex())
            require(before != after, f"write of {key} that changes nothing", before, after)
            if after is None:
                self.tree.delete(key)
            else:
                self.tree.set(key, bytes.fromhex(after))
            if key.startswith(PACKAGES):
                self._package(key[len(PACKAGES) :], write.get("after"))
            self._report.count("writes")

    def _value_hash(self, name: str, write: dict[str, Any], item: Item) -> Optional[str]:
        """Hash of a value; a reference names a blob that is never salted, by the hash of the value."""
        if name not in write:
            return None
        found = reference(write[name])
        self._blobs.field(f"{name} of {write['key']}", write[name], item, False)
        return hash_json(write[name]) if found is None else found.hash

    def _package(self, id: str, value: Any) -> None:
        """`installedDApps` follows from the state (docs/spec/state-root.md)."""
        code_hash = value.get("codeHash") if isinstance(value, dict) else None
        if is_hash(code_hash):
            self._packages[id] = code_hash
        else:
            self._packages.pop(id, None)


def check_state(key: str, text: str, tree: StateTree) -> None:
    """A state entry is the value whose hash the write sets gave."""
    found = tree.get(key)
    require(found is not None, f"state entry {key}", None, hash_text(text))
    assert found is not None
    equal(f"state entry {key}", found.hex(), hash_text(text))
