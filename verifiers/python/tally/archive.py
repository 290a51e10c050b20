"""Archive files (docs/spec/archive.md), and the history that they hold together, from its beginning on."""

from __future__ import annotations

from typing import Any, Iterator, Optional

from .blobs import Blobs
from .canonical import is_hash, is_integer, parse_canonical
from .chain import ROTATE, Chain
from .ed25519 import verify as verify_signature
from .record import parse_record
from .records import check_receipt, check_signature, rotated_key
from .report import Failure, Report, equal, members, require
from .runs import Runs
from .snapshot import SNAPSHOT_BYTES_MAX, SNAPSHOT_HEADER_BYTES_MAX, SNAPSHOT_LINE_BYTES_MAX, Snapshot
from .subjects import SubjectKeys

FORMAT = "tally-archive"
VERSIONS = {"archive": 1, "receipt": 1, "record": 1}
HEADER = ["format", "versions", "identity", "from", "to", "blobs", "bytes", "longestLine"]
BOUNDARY = {"commits", "frontier", "leaves", "previousReceiptHash", "receiptHash", "receipts", "rotations"}
FOOTER = ["publicKey", "rotations", "sha256", "signature"]


class Archive(Snapshot):
    """Reads the lines of an archive once, from first to last."""

    def read_header(self) -> None:
        """Reads and checks the first line."""
        line = self._read(SNAPSHOT_HEADER_BYTES_MAX)
        header = self._parse(line, HEADER)
        self._hash.update(line + b"\n")
        equal("format", header["format"], FORMAT)
        equal("versions", list(header["versions"].items()), list(VERSIONS.items()))
        require(is_hash(header["identity"]), "identity", header["identity"], "64 hex digits")
        for name in ("from", "to"):
            members(name, header[name], BOUNDARY)
        for number in (header["blobs"], header["bytes"], header["longestLine"]):
            require(is_integer(number), "count of the header", number, "an integer")
        require(header["bytes"] <= SNAPSHOT_BYTES_MAX, "bytes", header["bytes"], SNAPSHOT_BYTES_MAX)
        require(header["longestLine"] <= SNAPSHOT_LINE_BYTES_MAX, "longestLine", header["longestLine"], SNAPSHOT_LINE_BYTES_MAX)
        require(header["from"]["commits"] < header["to"]["commits"], "to", header["to"]["commits"], "more commits than from")
        self.header = header

    def lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The lines between header and footer, with their kind; then sizes are compared."""
        left = {"blob": self.header["blobs"], "commit": self.header["to"]["commits"] - self.header["from"]["commits"]}
        total = longest = 0
        while left["blob"] > 0 or left["commit"] > 0:
            line = self._read(self.header["longestLine"])
            self._hash.update(line + b"\n")
            total += len(line) + 1
            longest = max(longest, len(line))
            kind = "blob" if line.startswith(b'{"blob"') else "commit"
            value = self._parse(line, [kind])
            require(isinstance(value[kind], str), f"{kind} line", None, "a text")
            left[kind] -= 1
            require(left[kind] >= 0, f"{kind} lines", None, "as many as declared")
            yield kind, value
        equal("bytes", self.header["bytes"], total)
        equal("longestLine", self.header["longestLine"], longest)

    def signed_footer(self) -> dict[str, Any]:
        """The last line: nothing follows it, and its hash is that of the bytes before it."""
        return self._footer(FOOTER)


def is_archive(path: str) -> bool:
    """Whether a file says that it is an archive."""
    archive = Archive(path)
    try:
        return archive._read(SNAPSHOT_HEADER_BYTES_MAX).startswith(b'{"format":"tally-archive"')
    except Failure:
        return False
    finally:
        archive.close()


def verify_archives(paths: list[str], identity: Optional[str], every_signature: bool, subjects: Optional[str] = None) -> Report:
    """Verifies archives one after the other, from the beginning of their ledger on, as one history."""
    report = Report(", ".join(paths))
    history: Optional[_History] = None
    where = "line 1"
    try:
        for path in paths:
            archive = Archive(path)
            try:
                archive.read_header()
                if history is None:
                    history = _History(archive.header["identity"], report, every_signature, subjects)
                    report.identity = archive.header["identity"]
                if identity is not None:
                    equal("identity", archive.header["identity"], identity)
                history.read(archive)
            finally:
                where = f"{path}, line {archive.line}"
                archive.close()
        if history is not None:
            history.end()
        if identity is None:
            report.skip("that this is the identity meant: it was not pinned (--identity)")
    except Failure as failure:
        report.failure = failure
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        report.failure = Failure("shape of the record", f"{type(error).__name__}: {error}", None)
    if report.failure is not None:
        report.failure.where = f"{where}, {report.failure.where}" if report.failure.where else where
        report.skip("everything after the failure")
    return report


class _History:
    """The history of a ledger as far as its archives go."""

    def __init__(self, identity: str, report: Report, every_signature: bool, subjects: Optional[str]) -> None:
        self._identity = identity
        self._subjects = SubjectKeys(identity, subjects)
        self._report = report
        self._blobs = Blobs(report)
        self._chain = Chain(identity, report, self._blobs, every_signature)
        self._runs = Runs(identity, report, self._blobs)
        self._commits = 0

    def read(self, archive: Archive) -> None:
        """The next archive: it begins where the one before it ends."""
        header = archive.header
        equal("identity", header["identity"], self._identity)
        self._stands("from", header["from"])
        bodies: list[str] = []
        for kind, line in archive.lines():
            if kind == "blob":
                bodies.append(line["blob"])
                continue
            self._commit(line["commit"])
            for body in bodies:
                self._blobs.read_again(body)
            bodies = []
        equal("bodies behind the last commit", len(bodies), 0)
        self._stands("to", header["to"])
        self._signed(archive.signed_footer())
        self._report.count("archives")

    def end(self) -> None:
        """After the last archive; what is behind it is in the ledger."""
        self._chain.end()
        self._runs.end_within(self._chain.has)
        self._blobs.end()
        self._report.skip("what the ledger has behind the last archive")

    def _commit(self, text: str) -> None:
        counts, items = parse_record(text)
        equal("commit seq", self._commits, counts["seq"])
        equal("commit leaves", self._chain.log_size, counts["leaves"])
        equal("commit receipts", self._chain.receipts, counts["receipts"])
        for item in items:
            opened = self._subjects.open(item)
            if opened > 0:
                self._report.count("texts under keys of subjects", opened)
            run = self._runs.journal(item)
            if item.receipt is not None:
                result = self._chain.receipt(item)
                self._runs.receipt(run, item, result, self._chain.is_receipt)
            if item.evidence is not None:
                self._chain.evidence(item)
                self._runs.evidence(run, item)
            self._runs.end_item(run, item)
            self._blobs.end_item(item)
        self._commits += 1
        self._report.count("commit records")

    def _stands(self, name: str, boundary: dict[str, Any]) -> None:
        """A boundary says where the chain stands."""
        equal(f"{name} commits", boundary["commits"], self._commits)
        equal(f"{name} receipts", boundary["receipts"], self._chain.receipts)
        equal(f"{name} receiptHash", boundary["receiptHash"], self._chain.last_hash)
        equal(f"{name} previousReceiptHash", boundary["previousReceiptHash"], self._chain.previous_hash)
        equal(f"{name} leaves", boundary["leaves"], self._chain.log_size)
        equal(f"{name} frontier", boundary["frontier"], self._chain.log_edge())
        equal(f"{name} rotations", boundary["rotations"], self._chain.rotations)

    def _signed(self, footer: dict[str, Any]) -> None:
        """The key in force when the archive was made has signed its hash."""
        key = self._chain.key
        for text in footer["rotations"]:
            receipt = parse_canonical(text)
            check_receipt(receipt)
            equal("intent of a rotation", receipt["intent"], ROTATE)
            equal("identity of a rotation", receipt["identity"], self._identity)
            equal("publicKey of a rotation", receipt["publicKey"], key)
            check_signature(receipt, "receiptHash")
            key = rotated_key(receipt)
        equal("publicKey of the footer", footer["publicKey"], key)
        message = f"tallystick/archive\n{self._identity}\n{footer['sha256']}\n".encode()
        holds = verify_signature(bytes.fromhex(key), message, bytes.fromhex(footer["signature"]))
        require(holds, "signature of the footer", footer["signature"], "a signature over the hash of the file")
