"""Signed notes: C2SP tlog-checkpoints (docs/spec/log-and-notes.md, Notes)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

from . import ed25519
from .canonical import SAFE_INTEGER_MAX, is_hash

NOTE_BYTES_MAX = 65_536
SIGNATURES_MAX = 100
ED25519_TYPE = b"\x01"
SIZE = re.compile(r"(0|[1-9][0-9]*)\Z")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
NAME = re.compile(r"[^\s+]+\Z")


@dataclass(frozen=True)
class Note:
    """A note that was read: what it says, what is signed, and the signature lines (name, key id, signature)."""

    origin: str
    size: int
    root: str
    state_root: str
    body: str
    signatures: tuple[tuple[str, bytes, bytes], ...]


def _base64(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("base64 of the note") from None
    if base64.b64encode(data).decode() != text:
        raise ValueError("base64 of the note is not canonical")
    return data


def parse_note(text: str) -> Note:
    """Reads a note; ValueError for anything that a reader must refuse."""
    if len(text.encode()) > NOTE_BYTES_MAX:
        raise ValueError("the note is too long")
    if CONTROL.search(text):
        raise ValueError("the note has control characters")
    body, gap, tail = text.partition("\n\n")
    lines = body.split("\n")
    if gap == "" or not tail.endswith("\n") or len(lines) != 4:
        raise ValueError("the note has not its four lines")
    origin, size, root, extension = lines
    if NAME.match(origin) is None:
        raise ValueError("the origin of the note")
    if SIZE.match(size) is None or int(size) > SAFE_INTEGER_MAX:
        raise ValueError("the size of the note")
    root_bytes = _base64(root)
    prefix, _, state_root = extension.partition(" ")
    if len(root_bytes) != 32 or prefix != "state-root" or not is_hash(state_root):
        raise ValueError("the roots of the note")
    signatures = tuple(_signature(line) for line in tail[:-1].split("\n"))
    if len(signatures) > SIGNATURES_MAX:
        raise ValueError("the note has too many signatures")
    return Note(origin, int(size), root_bytes.hex(), state_root, body + "\n", signatures)


def _signature(line: str) -> tuple[str, bytes, bytes]:
    parts = line.split(" ")
    if len(parts) != 3 or parts[0] != "\u2014" or NAME.match(parts[1]) is None:
        raise ValueError("a signature line of the note")
    data = _base64(parts[2])
    if len(data) < 5:
        raise ValueError("a signature of the note")
    return parts[1], data[:4], data[4:]


def key_id(name: str, public_key: bytes) -> bytes:
    """First 4 bytes of sha256(name || 0x0a || type || key)."""
    return hashlib.sha256(name.encode() + b"\n" + ED25519_TYPE + public_key).digest()[:4]


def signed_by(note: Note, public_key: bytes) -> bool:
    """Whether at least one line has the key's name and id. ValueError when one of those does not verify."""
    mine = key_id(note.origin, public_key)
    lines = [line for line in note.signatures if line[0] == note.origin and line[1] == mine]
    for _, _, signature in lines:
        if not ed25519.verify(public_key, note.body.encode(), signature):
            raise ValueError("a signature of the note does not verify")
    return len(lines) > 0
