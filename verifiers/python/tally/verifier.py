"""Verifies one snapshot: container, records, chain, state, journals, head, notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from .blobs import Blobs
from .canonical import is_ledger_value, parse_canonical
from .chain import Chain, check_state
from .lock import check_lock
from .note import Note, parse_note, signed_by
from .record import Item, parse_record
from .report import Failure, Report, Unusable, equal, require
from .runs import Runs
from .snapshot import Snapshot
from .subjects import SubjectKeys

NEVER = (
    "re-execution: outputs were not computed again from inputs",
    "codes over journals, and salts of private bodies (they need the blob key)",
    "code hashes of blocks and packages (the code is not in a snapshot)",
    "epochs, and what the last entry of a journal says besides its result (nothing signs them)",
)
"""What a verifier that has neither code nor blob key cannot check."""


@dataclass(frozen=True)
class Options:
    """What the caller wants: a pinned identity, notes from elsewhere as (source, text), fewer signatures, a lock as (source, text), the directory of keys of subjects."""

    identity: Optional[str] = None
    notes: tuple[tuple[str, str], ...] = ()
    every_signature: bool = True
    lock: Optional[tuple[str, str]] = None
    subjects: Optional[str] = None


class _Verification:
    def __init__(self, snapshot: Snapshot, report: Report, options: Options) -> None:
        self._snapshot = snapshot
        self._report = report
        self._options = options
        identity = snapshot.header["identity"]
        blobs = Blobs(report)
        self._blobs = blobs
        self._chain = Chain(identity, report, blobs, options.every_signature)
        self._runs = Runs(identity, report, blobs)
        self._subjects = SubjectKeys(identity, options.subjects)
        self._commits = 0
        self._epoch = 0
        self._states = 0
        self._last_key: Optional[bytes] = None

    def run(self) -> None:
        """Checks everything in the order of the file."""
        header = self._snapshot.header
        if self._options.identity is not None:
            equal("identity", header["identity"], self._options.identity)
        for kind, line in self._snapshot.lines():
            if kind == "commits":
                self._commit(line["commit"])
            elif kind == "stateEntries":
                self._state(line["key"], line["state"])
            elif kind == "blobs":
                self._blobs.read(line["blob"])
            else:
                self._runs.open_line(line["open"], line["status"])
        self._chain.end()
        equal("publicKeys", header["publicKeys"], self._chain.keys)
        equal("state entries", self._chain.tree.size, self._states)
        self._runs.end(self._chain.has)
        self._blobs.end()
        self._head(header["head"])
        if self._options.lock is not None:
            check_lock(self._options.lock[1], self._chain)
            self._report.count("integrity locks")
            self._report.skip("code of the integrity lock (it needs the blob key)")
        footer = self._snapshot.footer()
        self._footer_note(footer["note"])
        self._outside_notes()

    def at(self) -> tuple[Optional[int], str]:
        """The number of the log record under way, and where that is in the file."""
        in_commits = self._commits < self._snapshot.header["counts"]["commits"]
        where = f"line {self._snapshot.line}"
        return (self._chain.log_size, f"{where}, commit {self._commits}") if in_commits else (None, where)

    def _commit(self, text: str) -> None:
        """A commit record: its number and counts, then its items (docs/spec/store.md)."""
        counts, items = parse_record(text)
        equal("commit seq", self._commits, counts["seq"])
        equal("commit leaves", self._chain.log_size, counts["leaves"])
        equal("commit receipts", self._chain.receipts, counts["receipts"])
        require(counts["epoch"] >= self._epoch, "commit epoch", counts["epoch"], self._epoch)
        self._epoch = counts["epoch"]
        for item in items:
            self._item(item)
        self._commits += 1
        self._report.count("commit records")

    def _item(self, item: Item) -> None:
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

    def _state(self, key: str, text: str) -> None:
        """A state entry, in ascending order of UTF-8 bytes (docs/spec/snapshot.md)."""
        name = key.encode()
        require(self._last_key is None or self._last_key < name, "order of the state entries", key, None)
        self._last_key = name
        try:
            value = parse_canonical(text)
        except ValueError as error:
            raise Failure(f"state entry {key}", text[:200], str(error)) from None
        require(is_ledger_value(value), f"state entry {key}", text[:200], "a ledger value")
        check_state(key, text, self._chain.tree)
        self._states += 1
        self._report.count("state entries")

    def _head(self, head: dict[str, Any]) -> None:
        """The head must equal what the records give, in every field (docs/spec/store.md, Opening)."""
        equal("head version", head["version"], 1)
        require(head["epoch"] >= self._epoch, "head epoch", head["epoch"], self._epoch)
        equal("head seq", self._commits, head["seq"])
        equal("head receipts", self._chain.receipts, head["receipts"])
        equal("head receiptHash", self._chain.last_hash, head["receiptHash"])
        equal("head storageRoot", self._chain.storage_root(), head["storageRoot"])
        equal("head headRoot", self._chain.head_root(), head["headRoot"])
        equal("head logSize", self._chain.log_size, head["logSize"])
        equal("head logRoot", self._chain.log_root(), head["logRoot"])

    def _footer_note(self, text: Any) -> None:
        """The note of the footer must hold; there need not be one (docs/spec/snapshot.md)."""
        if text is None:
            self._report.skip("log records that no note of the snapshot covers", self._chain.log_size)
            return
        try:
            note = self._noted(text)
        except (Unusable, ValueError) as error:
            raise Failure("note of the footer", text, str(error)) from None
        self._chain.check_note(note, "the footer's note")
        self._report.count("notes of the snapshot")
        self._report.skip("log records after the note of the snapshot", self._chain.log_size - note.size)

    def _outside_notes(self) -> None:
        """Notes that were kept elsewhere: the only sight of a tail that was cut, or of a history made anew."""
        covered = 0
        for source, text in self._options.notes:
            try:
                note = self._noted(text)
            except (Unusable, ValueError) as error:
                self._report.unusable_notes.append(f"{source}: {error}")
                continue
            self._chain.check_note(note, f"the note {source}")
            self._report.count("notes from outside")
            covered = max(covered, note.size)
        self._report.skip("log records after the last note from outside", self._chain.log_size - covered)

    def _noted(self, text: str) -> Note:
        """A note of this log by a key of its chain. Unusable when it is of another; ValueError when it is none."""
        note = parse_note(text)
        if note.origin != f"tallystick/{self._chain.identity}":
            raise Unusable("it is of another log")
        if not any([signed_by(note, bytes.fromhex(key)) for key in self._chain.keys]):
            raise Unusable("no key of this identity has signed it")
        return note


def verify(path: str, options: Options = Options()) -> Report:
    """Verifies the snapshot in a file. OSError when it cannot be read."""
    report = Report(path)
    verification: Optional[_Verification] = None
    snapshot = Snapshot(path)
    try:
        snapshot.read_header()
        report.identity = snapshot.header["identity"]
        verification = _Verification(snapshot, report, options)
        verification.run()
        if options.identity is None:
            report.skip("that this is the identity meant: it was not pinned (--identity)")
    except Failure as failure:
        report.failure = failure
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        # Shapes are checked where a record is read; this is a member of another type further inside.
        report.failure = Failure("shape of the record", f"{type(error).__name__}: {error}", None)
    finally:
        snapshot.close()
    if report.failure is not None:
        index, where = (None, "line 1") if verification is None else verification.at()
        report.failure.index = index
        report.failure.where = f"{where}, {report.failure.where}" if report.failure.where else where
        report.skip("everything after the failure")
    for what in NEVER:
        report.skip(what)
    return report
