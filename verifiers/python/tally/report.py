"""What a verification found, what it checked, and what it did not check."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional


class Failure(Exception):
    """The first thing that is wrong.

    `signed` is what signed records say or lead to, `computed` what comes of computing it, or stands there unsigned.
    """

    def __init__(self, name: str, signed: Any = None, computed: Any = None) -> None:
        super().__init__(name)
        self.field = name
        self.signed = signed
        self.computed = computed
        self.index: Optional[int] = None
        self.where = ""


class Unusable(Exception):
    """A note that fits nothing: no note, of another log, or by no key of this identity."""


def require(holds: bool, name: str, signed: Any = None, computed: Any = None) -> None:
    """Fails unless it holds."""
    if not holds:
        raise Failure(name, signed, computed)


def equal(name: str, signed: Any, computed: Any) -> None:
    """Fails unless what was written is what was computed, with the type it has in JSON."""
    if signed != computed or isinstance(signed, bool) != isinstance(computed, bool):
        raise Failure(name, signed, computed)


def members(name: str, value: Any, required: set[str], optional: frozenset[str] = frozenset()) -> None:
    """Fails unless the value is an object with the required members and no unknown ones."""
    require(isinstance(value, dict), name, value, "an object")
    present = set(value)
    if not required <= present <= required | optional:
        raise Failure(name + " members", sorted(present), sorted(required))


@dataclass
class Report:
    """Of one snapshot."""

    file: str
    identity: Optional[str] = None
    failure: Optional[Failure] = None
    unusable_notes: list[str] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)
    not_checked: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing that was checked is wrong."""
        return self.failure is None

    def count(self, what: str, number: int = 1) -> None:
        """Something was checked and holds."""
        self.checked[what] = self.checked.get(what, 0) + number

    def skip(self, what: str, number: int = 1) -> None:
        """Something was not checked."""
        if number:
            self.not_checked[what] = self.not_checked.get(what, 0) + number

    def to_json(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        failure = self.failure
        return {
            "$type": "verification",
            "checked": self.checked,
            "failure": None
            if failure is None
            else {
                "computed": failure.computed,
                "field": failure.field,
                "index": failure.index,
                "signed": failure.signed,
                "where": failure.where,
            },
            "file": self.file,
            "identity": self.identity,
            "notChecked": self.not_checked,
            "ok": self.ok,
            "unusableNotes": self.unusable_notes,
        }

    def to_text(self) -> str:
        """The same, for people. What comes from the file is escaped."""
        lines = [f"{self.file}: {'ok' if self.ok else 'FAILED'}  identity {self.identity}"]
        if self.failure is not None:
            at = "" if self.failure.index is None else f" (log record {self.failure.index})"
            lines.append(f"  at {self.failure.where}{at}: {self.failure.field}")
            lines.append(f"    signed   {_short(self.failure.signed)}")
            lines.append(f"    computed {_short(self.failure.computed)}")
        lines += [f"  note fits nothing: {reason}" for reason in self.unusable_notes]
        lines += [f"  checked {number} {what}" for what, number in self.checked.items()]
        lines += [f"  not checked {number} {what}" for what, number in self.not_checked.items()]
        return "\n".join(lines)


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 300 else text[:300] + "..."
