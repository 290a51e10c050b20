"""Canonical JSON (docs/spec/canonical-json.md): RFC 8785 text, its hash, and a reader that takes nothing else."""

from __future__ import annotations

import hashlib
import json
import math
import re
from json.encoder import encode_basestring as quoted
from typing import Any, Callable

SAFE_INTEGER_MAX = 2**53 - 1
"""Largest size of an integer that a ledger value may hold."""

HASH = re.compile(r"[0-9a-f]{64}\Z")
SIGNATURE = re.compile(r"[0-9a-f]{128}\Z")
SURROGATE = re.compile("[\ud800-\udfff]")

Problem = Callable[[str], Exception]


def sha256(data: bytes) -> str:
    """Hash as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def hash_text(text: str) -> str:
    """Hash of the UTF-8 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def hash_json(value: Any) -> str:
    """Hash of the canonical JSON of a value."""
    return hash_text(canonical(value))


def is_hash(value: Any) -> bool:
    """Whether a value is 64 lower-case hex digits."""
    return isinstance(value, str) and HASH.match(value) is not None


def is_integer(value: Any) -> bool:
    """Whether a value is an integer of at least 0 that a double holds exactly."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= SAFE_INTEGER_MAX


def utf16(text: str) -> bytes:
    """Sort key for an order by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def number_text(value: float) -> str:
    """Number::toString of ECMAScript for a finite double; Python's shortest digits are the same."""
    if value == 0:
        return "0"
    sign, digits, exponent = _digits(value)
    count = len(digits)
    if count <= exponent <= 21:
        return sign + digits + "0" * (exponent - count)
    if 0 < exponent <= 21:
        return sign + digits[:exponent] + "." + digits[exponent:]
    if -6 < exponent <= 0:
        return sign + "0." + "0" * -exponent + digits
    power = exponent - 1
    mantissa = digits if count == 1 else digits[0] + "." + digits[1:]
    return f"{sign}{mantissa}e{'+' if power >= 0 else '-'}{abs(power)}"


def _digits(value: float) -> tuple[str, str, int]:
    """Sign, shortest digits, and the place of the decimal point after the first digit's left."""
    text = repr(value)
    sign = "-" if text[0] == "-" else ""
    mantissa, _, power = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    exponent = len(whole) - leading + int(power or "0")
    return sign, digits.rstrip("0"), exponent


def canonical(value: Any) -> str:
    """RFC 8785 text. Raises ValueError for what JSON cannot say."""
    parts: list[str] = []
    _write(value, parts.append, sort=True)
    return "".join(parts)


def in_order(value: Any) -> str:
    """The same, but keys stand in the order in which the object has them (docs/spec/snapshot.md)."""
    parts: list[str] = []
    _write(value, parts.append, sort=False)
    return "".join(parts)


def _write(value: Any, put: Callable[[str], None], sort: bool) -> None:
    if isinstance(value, str):
        if SURROGATE.search(value):
            raise ValueError("lone surrogate")
        put(quoted(value))
    elif value is None:
        put("null")
    elif value is True:
        put("true")
    elif value is False:
        put("false")
    elif isinstance(value, int):
        put(str(value))
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("number that is not finite")
        put(number_text(value))
    elif isinstance(value, list):
        put("[")
        for index, item in enumerate(value):
            if index:
                put(",")
            _write(item, put, sort)
        put("]")
    elif isinstance(value, dict):
        put("{")
        for index, key in enumerate(sorted(value, key=utf16) if sort else value):
            if index:
                put(",")
            _write(key, put, sort)
            put(":")
            _write(value[key], put, sort)
        put("}")
    else:
        raise ValueError(f"{type(value).__name__} is not JSON")


def _integer(text: str) -> int | float:
    # A larger one is a double for ECMAScript, and is written as one.
    value = int(text) if len(text) <= 17 else float(text)
    return value if isinstance(value, float) or abs(value) <= SAFE_INTEGER_MAX else float(text)


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def parse(text: str) -> Any:
    """Value of a JSON text. Numbers that are no safe integers are floats."""
    try:
        return json.loads(text, parse_int=_integer, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None


def parse_canonical(text: str) -> Any:
    """Value of a text that is canonical; ValueError for any other text, duplicate keys included."""
    value = parse(text)
    if canonical(value) != text:
        raise ValueError("not canonical")
    return value


def parse_in_order(text: str) -> Any:
    """Value of a text without white space whose keys stand in an order of their own."""
    value = parse(text)
    if in_order(value) != text:
        raise ValueError("not written as a snapshot writes it")
    return value


def is_ledger_value(value: Any) -> bool:
    """No key that begins with `$`, no integer that is not safe (docs/spec/canonical-json.md, Ledger values)."""
    if isinstance(value, dict):
        return all(not key.startswith("$") and is_ledger_value(item) for key, item in value.items())
    if isinstance(value, list):
        return all(is_ledger_value(item) for item in value)
    # A double without a fraction is an integer; the safe ones were read as such.
    return not isinstance(value, float) or not value.is_integer()
