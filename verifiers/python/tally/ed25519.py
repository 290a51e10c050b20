"""Ed25519 under the strict rule of docs/spec/identity.md: canonical, not of small order, S < L, no cofactor.

Points are in extended coordinates (X, Y, Z, T). A multiple of the base point, or of a key, is a sum of 64
entries of a table of that point, so a verification takes 128 additions and no doubling. Nothing here is
secret; nothing is constant-time.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Optional

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
D2 = 2 * D % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)
SIGN = 1 << 255

Point = tuple[int, int, int, int]
Table = list[list[Point]]

IDENTITY: Point = (0, 1, 1, 0)

SMALL_ORDER = frozenset(
    (
        1,
        P - 1,
        0,
        int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"),
        int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"),
    )
)
"""The `y` of the points whose order divides 8 (rule 3)."""


def add(a: Point, b: Point) -> Point:
    """Sum of two points (RFC 8032, 5.1.4; complete, so doubling needs no case of its own)."""
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    m = (y1 - x1) * (y2 - x2) % P
    n = (y1 + x1) * (y2 + x2) % P
    c = t1 * D2 % P * t2 % P
    d = 2 * z1 * z2 % P
    e, f, g, h = n - m, d - c, d + c, n + m
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def encode(point: Point) -> bytes:
    """32 bytes: `y`, and the lowest bit of `x` as the top bit."""
    x, y, z, _ = point
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def is_acceptable(encoded: bytes) -> bool:
    """Rules 1 to 3 for a key or an R: 32 bytes, canonical, not of small order."""
    if len(encoded) != 32:
        return False
    y = int.from_bytes(encoded, "little") & (SIGN - 1)
    return y < P and y not in SMALL_ORDER


def decode(encoded: bytes) -> Optional[Point]:
    """The point of an acceptable encoding, or None when it is not on the curve."""
    number = int.from_bytes(encoded, "little")
    y = number & (SIGN - 1)
    u = (y * y - 1) % P
    v = (D * y * y + 1) % P
    x = u * pow(v, 3, P) % P * pow(u * pow(v, 7, P) % P, (P - 5) // 8, P) % P
    if v * x * x % P != u:
        x = x * ROOT_OF_MINUS_1 % P
        if v * x * x % P != u:
            return None
    if x & 1 != number >> 255:
        x = P - x
    return (x, y, 1, x * y % P)


def table(point: Point) -> Table:
    """For each of 64 places of 4 bits the multiples 0 to 15 of the point at that place."""
    rows: Table = []
    for _ in range(64):
        row = [IDENTITY, point]
        for _ in range(14):
            row.append(add(row[-1], point))
        rows.append(row)
        point = add(row[-1], point)
    return rows


def multiply(rows: Table, scalar: int) -> Point:
    """A multiple of the point of a table, by a scalar below 2^256."""
    total = IDENTITY
    for row in rows:
        digit = scalar & 15
        if digit:
            total = add(total, row[digit])
        scalar >>= 4
    return total


def _base() -> Point:
    point = decode((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    assert point is not None
    return point


BASE = table(_base())


@lru_cache(maxsize=64)
def _negated(key: bytes) -> Optional[Table]:
    """Table of -A, so that the check is one sum; None for a key that must be refused."""
    point = decode(key) if is_acceptable(key) else None
    if point is None:
        return None
    x, y, z, t = point
    return table((P - x, y, z, P - t))


def is_key(key: bytes) -> bool:
    """Whether a public key is canonical, on the curve and not of small order."""
    return is_acceptable(key) and decode(key) is not None


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature is valid by the strict rule."""
    if len(signature) != 64 or not is_acceptable(signature[:32]):
        return False
    s = int.from_bytes(signature[32:], "little")
    negated = _negated(bytes(key)) if s < L else None
    if negated is None:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    return encode(add(multiply(BASE, s), multiply(negated, k))) == signature[:32]
