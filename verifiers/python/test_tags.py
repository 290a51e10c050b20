"""Tags of a run are those that its code has set last (docs/spec/journal.md, Tags)."""

from __future__ import annotations

import unittest
from typing import Any

from tally.report import Failure, Report
from tally.tags import Tags


def sealed(body: Any, **more: Any) -> dict[str, Any]:
    """The answer to a call that sets tags."""
    return {"effect": "run.tags", "ok": True, "body": body, **more}


class TagsOfRuns(unittest.TestCase):
    """What a run says of itself, beside what its calls were given."""

    def said(self, given: list[dict[str, Any]], entry: dict[str, Any]) -> None:
        """An entry of the run about itself, behind these answers."""
        tags = Tags(Report("tags"))
        for one in given:
            tags.sealed(one)
        tags.said(entry)

    def test_the_last_ones_that_were_set_are_those_of_the_run(self) -> None:
        given = [sealed({"tags": ["new"]}), sealed({"tags": ["a", "b"]})]
        self.said(given, {"tags": ["a", "b"]})
        for other in (["new"], ["b", "a"], [], ["a"], None):
            with self.assertRaises(Failure):
                self.said(given, {"tags": other})

    def test_an_entry_may_have_none(self) -> None:
        self.said([], {})
        with self.assertRaises(Failure):
            self.said([], {"tags": []})

    def test_an_answer_that_is_no_list_of_tags_sets_none(self) -> None:
        others = [
            sealed({"tags": ["x"] * 17}),
            sealed({"tags": [""]}),
            sealed({"tags": ["x" * 129]}),
            sealed({"tags": ["\U0001f600" * 65]}),
            sealed({"tags": [7]}),
            sealed(["x"]),
            sealed({"tags": ["x"]}, ok=False),
            sealed({"tags": ["x"]}, effect="shop.tags"),
        ]
        self.said([sealed({"tags": ["kept"]}), *others], {"tags": ["kept"]})
        self.said([sealed({"tags": ["\U0001f600" * 64]})], {"tags": ["\U0001f600" * 64]})


if __name__ == "__main__":
    unittest.main()
