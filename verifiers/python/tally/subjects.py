"""Texts under keys of subjects (docs/spec/subjects.md), where the keys are at hand."""

from __future__ import annotations

import base64
import hmac
from pathlib import Path
from typing import Any, Optional

from .aes_gcm import NONCE_BYTES, TAG_BYTES, AesGcm
from .canonical import canonical, is_hash, parse_canonical, sha256, utf16
from .record import Item
from .report import Failure, equal, require

CLEAR = ("at", "definitionHash", "k", "n", "name", "principal", "run", "status")
"""Members of an entry that stand in clear beside `$encrypted`, where the entry has them."""


def code(key: bytes, text: bytes) -> bytes:
    """HMAC-SHA256."""
    return hmac.new(key, text, "sha256").digest()


def id_of(blob_key: bytes, subject: str) -> str:
    """The id of a subject, by which its key is named."""
    return code(blob_key, b"tallystick/subject\n" + subject.encode()).hex()[:32]


class SubjectKey:
    """The key of one subject, and what follows from it."""

    def __init__(self, id: str, key: bytes) -> None:
        self.name = id + code(key, b"tallystick/subject/name").hex()[:16]
        self._naming = code(key, b"tallystick/subject/nonce")
        self._cipher = AesGcm(code(key, b"tallystick/subject/encrypt"))

    def nonce(self, place: str, text: str) -> bytes:
        """The nonce of a text at a place: a code over both."""
        length = len(utf16(place)) // 2
        return code(self._naming, f"{length}\n{place}{text}".encode())[:NONCE_BYTES]

    def encrypt(self, place: str, text: str) -> str:
        """The encrypted text."""
        nonce = self.nonce(place, text)
        data = nonce + self._cipher.encrypt(nonce, text.encode(), place.encode())
        return f"{self.name}.{base64.b64encode(data).decode()}"

    def decrypt(self, place: str, encrypted: str) -> str:
        """What it says. Fails when it is of another place, or was altered."""
        encoded = encrypted.partition(".")[2]
        data = base64.b64decode(encoded)
        require(base64.b64encode(data).decode() == encoded, "base64 of an encrypted text", encoded[:80], "canonical")
        require(len(data) >= NONCE_BYTES + TAG_BYTES, "length of an encrypted text", len(data), NONCE_BYTES + TAG_BYTES)
        plain = self._cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], place.encode())
        if plain is None:
            raise Failure("encrypted text", encrypted[:80], "a text of this place under its key")
        return plain.decode()


class SubjectKeys:
    """The keys of a directory `subjects/<identity>`, by their names."""

    def __init__(self, identity: str, directory: Optional[str]) -> None:
        self._identity = identity
        self._keys: dict[str, SubjectKey] = {}
        if directory is None:
            return
        for path in sorted((Path(directory) / identity).glob("*")):
            text = path.read_text()
            if text.endswith("\n") and is_hash(text[:-1]):
                self.add(SubjectKey(path.name, bytes.fromhex(text[:-1])))

    def add(self, key: SubjectKey) -> None:
        """Takes one more."""
        self._keys[key.name] = key

    def open(self, item: Item) -> int:
        """Puts in place of what is encrypted what it says, and tells how many texts there were; 0 without the key."""
        marks = [entry["$encrypted"] for _, entry in item.journal if "$encrypted" in entry]
        texts = [text for text in [*marks, *item.encrypted] if isinstance(text, str)]
        key = self._keys.get(texts[0].partition(".")[0]) if texts else None
        if key is None:
            return 0
        equal("encrypted entries of an item", len(marks), len(item.journal))
        for text in texts:
            equal("key of an encrypted text", text.partition(".")[0], key.name)
        item.journal = [self._entry(key, str(item.run), entry) for _, entry in item.journal]
        for text in item.encrypted:
            plain = key.decrypt(f"{self._identity}\n{item.run}\nbody", text)
            item.blobs[sha256(plain.encode())] = plain
        item.encrypted = []
        item.is_opened = True
        return len(texts)

    def _entry(self, key: SubjectKey, run: str, stored: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """An entry, which says in clear what it says encrypted."""
        place = f"{self._identity}\n{run}\nentry\n{stored.get('n')}"
        text = key.decrypt(place, stored["$encrypted"])
        try:
            entry = parse_canonical(text)
        except ValueError as error:
            raise Failure("encrypted entry", text[:200], str(error)) from None
        require(isinstance(entry, dict), "encrypted entry", text[:200], "an object")
        clear = {name: entry[name] for name in CLEAR if name in entry}
        equal("what an encrypted entry says in clear", canonical(stored), canonical({"$encrypted": stored["$encrypted"], **clear}))
        return text, entry
