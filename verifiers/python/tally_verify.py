#!/usr/bin/env python3
"""Verifies tallystick snapshots and archives without any code of tallystick: `tally_verify.py ledger.tally [...]`.

Written from docs/spec alone, in Python's standard library. Exit code: 0 everything that was checked holds,
1 something is wrong, 2 wrong usage or a file that cannot be read, 3 a note that was given fits nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Iterator

from tally.archive import is_archive, verify_archives
from tally.canonical import is_hash
from tally.report import Report
from tally.verifier import Options, verify

OK, NOT_OK, USAGE, NOTE_FITS_NOTHING = 0, 1, 2, 3


def arguments() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(description="Verifies snapshots of tallystick ledgers (docs/spec).")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a snapshot, or the archives of a ledger in their order; packed with gzip if its name ends in .gz")
    parser.add_argument("--identity", metavar="HEX", help="the identity that it must be of: 64 hex digits")
    parser.add_argument("--note", action="append", default=[], metavar="FILE", help="a note kept elsewhere; repeatable")
    parser.add_argument("--lock", metavar="FILE", help="the integrity lock that stood beside the ledger")
    parser.add_argument("--subjects", metavar="DIRECTORY", help="the keys of subjects that stood beside the ledger: its directory `subjects`")
    parser.add_argument("--signatures", choices=("all", "last"), default="all", help="which receipts' signatures are checked")
    parser.add_argument("--json", action="store_true", help="one JSON document a line, one for each snapshot")
    return parser


def main() -> int:
    """Verifies every file that is given."""
    parser = arguments()
    given = parser.parse_args()
    if given.identity is not None and not is_hash(given.identity):
        parser.error("--identity takes 64 lower-case hex digits")
    code = OK
    try:
        notes = tuple((path, _read(path)) for path in given.note)
        lock = None if given.lock is None else (given.lock, _read(given.lock))
        options = Options(given.identity, notes, given.signatures == "all", lock, given.subjects)
        for report in _reports(given.files, options):
            print(json.dumps(report.to_json(), sort_keys=True) if given.json else report.to_text(), flush=True)
            if not report.ok:
                code = NOT_OK
            elif report.unusable_notes and code == OK:
                code = NOTE_FITS_NOTHING
    except OSError as error:
        print(f"tally_verify: {error}", file=sys.stderr)
        return USAGE
    return code


def _reports(files: list[str], options: Options) -> Iterator[Report]:
    """Of each snapshot, and of all archives together: they are one history."""
    archives = [path for path in files if is_archive(path)]
    for path in files:
        if path not in archives:
            yield verify(path, options)
    if archives:
        yield verify_archives(archives, options.identity, options.every_signature, options.subjects)


def _read(path: str) -> str:
    """Text of a note or lock; bytes that are no UTF-8 make it one that fits nothing."""
    with open(path, "rb") as file:
        return file.read(65_537).decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
