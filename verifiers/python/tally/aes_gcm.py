"""AES-256-GCM (FIPS 197, NIST SP 800-38D), for texts under keys of subjects. Not made against who measures its time."""

from __future__ import annotations

import hmac
from typing import Optional

NONCE_BYTES, TAG_BYTES, BLOCK_BYTES = 12, 16, 16
ROUNDS = 14


def _doubled(byte: int) -> int:
    """The product with x in GF(2^8), modulo x^8 + x^4 + x^3 + x + 1."""
    return (byte << 1 ^ 0x1B) & 0xFF if byte & 0x80 else byte << 1


def _substitutions() -> bytes:
    """The S-box: the inverse in GF(2^8), and an affine map."""
    box = bytearray(256)
    power = inverse = 1
    while True:
        power ^= _doubled(power)  # times 3, which generates the field
        for shift in (1, 2, 4):  # divided by 3
            inverse ^= inverse << shift & 0xFF
        if inverse & 0x80:
            inverse ^= 0x09
        turned = inverse
        for turn in range(1, 5):
            turned ^= (inverse << turn | inverse >> 8 - turn) & 0xFF
        box[power] = turned ^ 0x63
        if power == 1:
            break
    box[0] = 0x63
    return bytes(box)


BOX = _substitutions()


def _tables() -> list[list[int]]:
    """What a byte of each row gives to its column: substituted, and mixed. Columns are 32 bits, the first row highest."""
    first = [_doubled(one) << 24 | one << 16 | one << 8 | _doubled(one) ^ one for one in BOX]
    return [first] + [[(word >> turn | word << 32 - turn) & 0xFFFFFFFF for word in first] for turn in (8, 16, 24)]


ROWS = _tables()


def _substituted(word: int) -> int:
    return BOX[word >> 24] << 24 | BOX[word >> 16 & 255] << 16 | BOX[word >> 8 & 255] << 8 | BOX[word & 255]


def round_keys(key: bytes) -> list[int]:
    """The columns of the keys of all rounds."""
    words = [int.from_bytes(key[at : at + 4], "big") for at in range(0, 32, 4)]
    constant = 1
    for at in range(8, 4 * (ROUNDS + 1)):
        word = words[-1]
        if at % 8 == 0:
            word = _substituted((word << 8 | word >> 24) & 0xFFFFFFFF) ^ constant << 24
            constant = _doubled(constant)
        elif at % 8 == 4:
            word = _substituted(word)
        words.append(words[at - 8] ^ word)
    return words


def encrypt_block(keys: list[int], block: bytes) -> bytes:
    """One block under the keys of the rounds."""
    row0, row1, row2, row3 = ROWS
    a, b, c, d = (int.from_bytes(block[4 * at : 4 * at + 4], "big") ^ keys[at] for at in range(4))
    for at in range(4, 4 * ROUNDS, 4):
        a, b, c, d = (
            row0[a >> 24] ^ row1[b >> 16 & 255] ^ row2[c >> 8 & 255] ^ row3[d & 255] ^ keys[at],
            row0[b >> 24] ^ row1[c >> 16 & 255] ^ row2[d >> 8 & 255] ^ row3[a & 255] ^ keys[at + 1],
            row0[c >> 24] ^ row1[d >> 16 & 255] ^ row2[a >> 8 & 255] ^ row3[b & 255] ^ keys[at + 2],
            row0[d >> 24] ^ row1[a >> 16 & 255] ^ row2[b >> 8 & 255] ^ row3[c & 255] ^ keys[at + 3],
        )
    columns = (a, b, c, d)
    last = b""
    for at in range(4):
        high, second, third, low = (columns[(at + row) % 4] for row in range(4))
        shifted = high & 0xFF000000 | second & 0xFF0000 | third & 0xFF00 | low & 0xFF
        last += (_substituted(shifted) ^ keys[4 * ROUNDS + at]).to_bytes(4, "big")
    return last


def _products(value: int) -> list[list[int]]:
    """Products of the hash key with each byte at each place of a block, the first place first."""
    powers: list[int] = []
    for _ in range(128):
        powers.append(value)
        value = value >> 1 ^ (0xE1 << 120 if value & 1 else 0)
    tables: list[list[int]] = []
    for place in range(0, 128, 8):
        table = [0] * 256
        for byte in range(1, 256):
            rest = byte & byte - 1
            table[byte] = table[rest] ^ powers[place + 8 - (byte ^ rest).bit_length()]
        tables.append(table)
    return tables


def _hash(tables: list[list[int]], data: bytes) -> int:
    """GHASH over whole blocks."""
    total = 0
    for at in range(0, len(data), BLOCK_BYTES):
        block = (total ^ int.from_bytes(data[at : at + BLOCK_BYTES], "big")).to_bytes(BLOCK_BYTES, "big")
        total = 0
        for table, byte in zip(tables, block):
            total ^= table[byte]
    return total


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % BLOCK_BYTES)


class AesGcm:
    """One key."""

    def __init__(self, key: bytes) -> None:
        self._keys = round_keys(key)
        self._tables = _products(int.from_bytes(encrypt_block(self._keys, bytes(BLOCK_BYTES)), "big"))

    def decrypt(self, nonce: bytes, data: bytes, place: bytes) -> Optional[bytes]:
        """What ciphertext and tag say; None when it is another key, another place, or was altered."""
        body, tag = data[:-TAG_BYTES], data[-TAG_BYTES:]
        return self._crypted(nonce, body) if hmac.compare_digest(tag, self._tag(nonce, body, place)) else None

    def encrypt(self, nonce: bytes, text: bytes, place: bytes) -> bytes:
        """Ciphertext and tag."""
        body = self._crypted(nonce, text)
        return body + self._tag(nonce, body, place)

    def _crypted(self, nonce: bytes, data: bytes) -> bytes:
        blocks = range(2, 2 + (len(data) + BLOCK_BYTES - 1) // BLOCK_BYTES)
        stream = b"".join(encrypt_block(self._keys, nonce + number.to_bytes(4, "big")) for number in blocks)
        mask = int.from_bytes(stream[: len(data)], "big")
        return (mask ^ int.from_bytes(data, "big")).to_bytes(len(data), "big")

    def _tag(self, nonce: bytes, body: bytes, place: bytes) -> bytes:
        sizes = (8 * len(place)).to_bytes(8, "big") + (8 * len(body)).to_bytes(8, "big")
        total = _hash(self._tables, _padded(place) + _padded(body) + sizes)
        mask = int.from_bytes(encrypt_block(self._keys, nonce + b"\x00\x00\x00\x01"), "big")
        return (total ^ mask).to_bytes(TAG_BYTES, "big")
