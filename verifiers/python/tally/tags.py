"""Tags that the code of a run has set (docs/spec/journal.md, Tags)."""

from __future__ import annotations

from typing import Any, Optional

from .report import Report, equal

EFFECT = "run.tags"
"""Effect with which code sets them."""
TAGS_MAX = 16
LENGTH_MAX = 128
"""Of one tag, in UTF-16 code units."""


class Tags:
    """Those that were set last: what the run says of itself has them."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._last: Optional[list[str]] = None

    def sealed(self, entry: dict[str, Any]) -> None:
        """A call has set some, whatever becomes of its attempt."""
        body = entry["body"]
        if entry["effect"] != EFFECT or entry["ok"] is not True or not isinstance(body, dict):
            return
        tags = body.get("tags")
        # An effect of a block may have taken this name, and sets none.
        if isinstance(tags, list) and len(tags) <= TAGS_MAX and all(map(_is_tag, tags)):
            self._last = tags

    def said(self, entry: dict[str, Any]) -> None:
        """The run has parked, is resumed or has ended."""
        if "tags" not in entry:
            return
        equal("tags of the run", entry["tags"], self._last)
        self._report.count("entries with tags")


def _is_tag(tag: Any) -> bool:
    return isinstance(tag, str) and 0 < len(tag.encode("utf-16-le", "surrogatepass")) // 2 <= LENGTH_MAX
