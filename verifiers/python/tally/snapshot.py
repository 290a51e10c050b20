"""The snapshot file (docs/spec/snapshot.md): header, lines in their order, footer with the hash of all before it."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from typing import Any, BinaryIO, Iterator

from .canonical import is_hash, is_integer, parse_in_order
from .report import Failure, equal, members, require

SNAPSHOT_BYTES_MAX = 68_719_476_736
SNAPSHOT_LINE_BYTES_MAX = 134_217_728
SNAPSHOT_HEADER_BYTES_MAX = 1_048_576

VERSIONS = {"capability": 1, "head": 1, "receipt": 1, "record": 1, "snapshot": 1, "stateRoot": 1}
HEADER = ["format", "versions", "identity", "publicKeys", "counts", "bytes", "longestLine", "head"]
COUNTS = ["commits", "stateEntries", "blobs", "openRuns"]
HEAD = {"epoch", "headRoot", "logRoot", "logSize", "receiptHash", "receipts", "seq", "storageRoot", "version"}
KINDS = (("commits", ["commit"]), ("stateEntries", ["key", "state"]), ("blobs", ["blob"]), ("openRuns", ["open", "status"]))


class Snapshot:
    """Reads the lines of a snapshot once, from first to last."""

    def __init__(self, path: str) -> None:
        self._file: BinaryIO = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")  # type: ignore[assignment]
        self._hash = hashlib.sha256()
        self.line = 0
        self.header: dict[str, Any] = {}

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _read(self, limit: int) -> bytes:
        """One line without its line feed."""
        try:
            line = self._file.readline(limit + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise Failure("gzip", str(error), "a whole file") from None
        self.line += 1
        require(line.endswith(b"\n"), "line of the snapshot", f"{len(line)} bytes", f"a line feed after at most {limit}")
        return line[:-1]

    def _parse(self, line: bytes, keys: list[str]) -> dict[str, Any]:
        try:
            value = parse_in_order(line.decode())
        except ValueError as error:
            raise Failure("JSON of the snapshot's line", None, str(error)) from None
        require(isinstance(value, dict), "line of the snapshot", None, "an object")
        equal("members of the snapshot's line", list(value), keys)
        return value

    def read_header(self) -> None:
        """Reads and checks the first line."""
        line = self._read(SNAPSHOT_HEADER_BYTES_MAX)
        header = self._parse(line, HEADER)
        self._hash.update(line + b"\n")
        equal("format", header["format"], "tally-snapshot")
        equal("versions", list(header["versions"].items()), list(VERSIONS.items()))
        require(is_hash(header["identity"]), "identity", header["identity"], "64 hex digits")
        keys = header["publicKeys"]
        require(isinstance(keys, list) and all(map(is_hash, keys)), "publicKeys", keys, "keys")
        equal("members of counts", list(header["counts"]), COUNTS)
        for number in [*header["counts"].values(), header["bytes"], header["longestLine"]]:
            require(is_integer(number), "count of the header", number, "an integer")
        require(header["bytes"] <= SNAPSHOT_BYTES_MAX, "bytes", header["bytes"], SNAPSHOT_BYTES_MAX)
        require(header["longestLine"] <= SNAPSHOT_LINE_BYTES_MAX, "longestLine", header["longestLine"], SNAPSHOT_LINE_BYTES_MAX)
        members("head", header["head"], HEAD)
        equal("head in its order", list(header["head"]), sorted(HEAD))
        self.header = header

    def lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The lines between header and footer, with their kind; then sizes are compared."""
        total = longest = 0
        limit = self.header["longestLine"]
        for kind, keys in KINDS:
            for _ in range(self.header["counts"][kind]):
                line = self._read(limit)
                self._hash.update(line + b"\n")
                total += len(line) + 1
                longest = max(longest, len(line))
                value = self._parse(line, keys)
                require(all(isinstance(item, str) for item in value.values()), f"{kind} line", None, "texts")
                yield kind, value
        equal("bytes", self.header["bytes"], total)
        equal("longestLine", self.header["longestLine"], longest)

    def footer(self) -> dict[str, Any]:
        """The last line; nothing follows it, and its hash is that of the bytes before it."""
        return self._footer(["note", "sha256"])

    def _footer(self, keys: list[str]) -> dict[str, Any]:
        footer = self._parse(self._read(SNAPSHOT_HEADER_BYTES_MAX), keys)
        equal("sha256", footer["sha256"], self._hash.hexdigest())
        try:
            rest = self._file.read(1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise Failure("gzip", str(error), "a whole file") from None
        require(rest == b"", "end of the snapshot", "more", "nothing")
        return footer
