"""Journals of runs (docs/spec/journal.md, docs/spec/waits.md), and what they say against receipts and evidence."""

from __future__ import annotations

from typing import Any, Callable, Optional

from .approvals import Approvals, policy_hash
from .blobs import Blobs, Body
from .canonical import canonical, hash_json, hash_text, is_integer
from .definition import INTENT, blocks_without_class, definition_hash
from .merkle import MerkleTree
from .obligations import Obligations
from .record import Item, is_encrypted
from .records import without
from .report import Failure, Report, equal, require
from .signals import EFFECT as SIGNAL
from .signals import Signals, is_for_signal
from .tags import Tags

PLACE = {"path", "step", "attempt"}
MEMBERS: dict[str, set[str]] = {
    "run.started": {"status", "name", "definition", "definitionHash", "input", "inputHash", "base", "principal"},
    "requested": PLACE | {"seq", "effect", "sideEffects", "requestHash", "key"},
    "sealed": PLACE | {"seq", "effect", "requestHash", "responseHash", "salt", "ok", "body"},
    "wait": PLACE | {"seq", "token", "reason", "request", "requestHash", "actions", "digest", "due"},
    "waiting": PLACE | {"token"},
    "answered": PLACE | {"seq", "token", "action", "by"},
    "approval": PLACE | {"seq", "token", "approval", "by"},
    "signal": {"name", "id", "value", "by"},
    "decision": {"path", "step", "token", "action", "patch", "by"},
    "timer": {"path", "step"},
    "rewound": PLACE | {"dropped"},
    "settled": PLACE | {"response", "sent"},
    "called": PLACE | {"seq", "call"},
    "returned": PLACE | {"response"},
    "scope": PLACE | {"outcome", "response"},
    "cancel": {"reason", "by"},
    "run.waiting": {"status", "waits", "due"},
    "run.resumed": {"status", "waits", "due"},
    "run.finished": {"status", "response", "journalHash"},
}
"""Members that an entry must have besides `k`, `run`, `n` and `at`; others may stand there."""

CLEAR = {"$encrypted", "at", "definitionHash", "k", "n", "name", "principal", "run", "status"}
"""Members of an entry that is encrypted under the key of a subject (docs/spec/subjects.md)."""

KEY_NAME = 48
"""Hex digits of the name of a key: 32 of the subject, 16 of the key itself."""
ERASED = "system/erased/"
"""State entries that say whose keys were erased, by the 32 digits of the subject."""

STATUS = {"run.started": ("running",), "run.waiting": ("waiting",), "run.resumed": ("running",)}
SUCCESS = {"data", "metadata", "success"}
FAILURE = SUCCESS | {"details", "errorType", "reason"}
SHOWN = {"actions", "digest", "due", "path", "reason", "request", "step", "token"}
"""Members of a wait in `run.waiting`; others may stand there."""
LIST = "state.list"
"""Effect of a listing of keys; its request is the prefix."""
CLASSES = ("none", "idempotent", "non_idempotent")
ENDS = ("done", "failed", "cancelled")
INTENT_CODE_HASH = "e1d9f7f876bc475d8dd6f6cc9c078f675e1dc5b3171d79798162998dbb7fcf98"
"""Of the kernel's leaf block `intent`, under which every wait of a run that is one intent is asked (waits.md)."""


class Run:
    """The journal of one run so far.

    1. `chain` is the hash chain up to the last entry, `before_end` the one up to before `run.finished`.
    2. `receipts` is the tree over the receipt hashes of the run, each leaf 32 raw bytes.
    3. `sealed` are results that receipts of the run may name, each with the paths where it was sealed.
    4. `listed` are hashes of the keys that were listed, by attempt and request.
    5. `approvals` is what approvers have signed, `signals` what the run was sent, `tags` what its code has set.
    6. `key` is the name of the key of a subject that it is under, if any.
    """

    def __init__(self, id: str, report: Report) -> None:
        self.id = id
        self.approvals = Approvals(report)
        self.signals = Signals(report)
        self.tags = Tags(report)
        self.started: dict[str, Any] = {}
        self.finished: Optional[dict[str, Any]] = None
        self.status = ""
        self.is_cancelled = False
        self.key: Optional[str] = None
        self.entries = 0
        self.at = 0
        self.chain = ""
        self.before_end = ""
        self.receipts = MerkleTree()
        self.sealed: dict[str, list[str]] = {}
        self.askings: dict[str, int] = {}
        self.waits: dict[str, dict[str, Any]] = {}
        self.listed: dict[str, set[str]] = {}
        self.obligations = Obligations({}, report)

    @property
    def is_encrypted(self) -> bool:
        """Whether the run is under the key of a subject."""
        return self.key is not None

    @property
    def is_intent(self) -> bool:
        """Whether the run is one intent."""
        return self.started["definition"].get("schema") == INTENT


class Runs:
    """All runs of a ledger, fed with the items of its commits."""

    def __init__(self, identity: str, report: Report, blobs: Blobs) -> None:
        self._identity = identity
        self._report = report
        self._blobs = blobs
        self._runs: dict[str, Run] = {}
        self._open: dict[str, str] = {}
        self._closed_runs: dict[str, int] = {}

    def journal(self, item: Item) -> Optional[Run]:
        """Takes the journal entries of an item."""
        if item.run is None or not item.journal:
            self._bodies(None if item.run is None else self._runs.get(item.run), item)
            return None
        run = self._runs.setdefault(item.run, Run(item.run, self._report))
        for text, entry in item.journal:
            self._entry(run, text, entry)
        self._bodies(run, item)
        return run

    def _bodies(self, run: Optional[Run], item: Item) -> None:
        """Bodies of a run with a subject are all under its key, and those of others are not."""
        key = None if run is None else run.key
        for text in item.encrypted:
            equal("key of an encrypted body", text[:KEY_NAME], key)
            self._report.count("encrypted bodies")
        if key is not None:
            equal("bodies in clear of a run with a subject", len(item.blobs) + len(item.large), 0)

    def receipt(self, run: Optional[Run], item: Item, result: Body, is_receipt: Any) -> None:
        """Compares the receipt of an item with the journal that stands beside it."""
        assert item.receipt is not None
        receipt = item.receipt[1]
        payload = receipt["inputPayload"]
        place = payload.get("run")
        require((run is None) == (place is None), "run of a receipt", place, None if run is None else run.id)
        if run is None or place is None:
            if item.run is not None:
                equal("unit id outside of runs", payload["id"], hash_json([item.run, "root", 1]))
            return
        equal("run.runId", place["runId"], run.id)
        equal("principal", payload["principal"], run.started["principal"])
        if run.is_encrypted:
            return
        equal("seed.base of the run", payload["seed"]["base"], run.started["base"])
        parent = place.get("parent")
        require(parent is None or is_receipt(parent), "run.parent", parent, "the hash of an earlier receipt")
        self._check_sealed(run, payload["sealed"], place["path"])
        equal("run.trace", place.get("trace"), run.started.get("trace"))
        if place["path"] == "root":
            given = run.started.get("context")
            equal("run.contextHash", place.get("contextHash"), None if given is None else hash_json(given))
        if receipt["intent"] == "run.completed":
            self._completed(run, receipt, item, result)
        elif run.is_intent:
            self._intent(run, receipt, item, result)
        else:
            self._settled(run, place, item, result)
        run.receipts.append(bytes.fromhex(receipt["receiptHash"]))
        self._report.count("receipts compared with a journal")

    def evidence(self, run: Optional[Run], item: Item) -> None:
        """Compares the evidence of an item with the journal that stands beside it."""
        assert item.evidence is not None
        evidence = item.evidence[1]
        if run is None:
            require("journalHash" not in evidence, "journalHash", evidence.get("journalHash"), None)
            return
        if run.is_encrypted:
            return
        self._check_sealed(run, evidence["landed"], "root")
        end = item.journal[-1][1]
        id = evidence["inputPayload"]["id"]
        if evidence["inputPayload"]["action"] == "step.deferred":
            payload = self._blobs.field("payload", evidence["inputPayload"]["payload"], item, True)
            if payload.known:
                equal("unit id", id, hash_json([run.id, payload.value["path"], end["step"]]))
        elif end["k"] == "scope":
            equal("unit id", id, hash_json([run.id, end["path"], end["step"]]))
        if end["k"] != "run.finished":
            require("journalHash" not in evidence, "journalHash", evidence.get("journalHash"), None)
            return
        equal("unit id", id, hash_json([run.id, "root", 0]))
        equal("journalHash", evidence.get("journalHash"), run.before_end)
        equal("code", evidence["code"], end["response"].get("reason"))
        self._details(evidence["details"], end["response"].get("details", {}), item)

    def _details(self, stated: Any, told: dict[str, Any], item: Item) -> None:
        """What evidence says of a failure is what the journal says, without what is in doubt."""
        body = self._blobs.said("details", stated, item)
        if body.known:
            equal("details", without(body.value, "in_doubt"), without(told, "in_doubt"))
        else:
            self._report.skip("details of evidence that are withheld")

    def end_item(self, run: Optional[Run], item: Item) -> None:
        """What ends comes with its record: a run with receipt or evidence, a unit with its receipt."""
        if run is None:
            return
        for _, entry in item.journal:
            if entry["k"] == "run.finished":
                done = entry["status"] == "done"
                present = item.receipt is not None if done else item.evidence is not None
                require(present, f"record beside the end of run {run.id}", None, "receipt" if done else "evidence")
            elif entry["k"] == "settled" and not run.is_encrypted and not run.is_intent and "overlay" not in entry:
                done = entry["response"].get("success") is True
                equal(f"receipt beside {entry['path']} of run {run.id}", item.receipt is not None, done)
        if run.finished is not None:
            # Nothing of the run comes any more; its totals stay.
            run.sealed, run.askings, run.waits, run.listed = {}, {}, {}, {}
            run.approvals = Approvals(self._report)
            run.signals = Signals(self._report)

    def open_line(self, id: str, status: str) -> None:
        """A line of the list of open runs."""
        require(not self._open or max(self._open) < id, "order of the open runs", id, None)
        self._open[id] = status

    def end(self, is_there: Callable[[str], bool]) -> None:
        """The list of open runs is that of the runs whose journal has no end."""
        open_runs = {run.id: run.status for run in self._runs.values() if run.finished is None}
        equal("open runs", self._open, dict(sorted(open_runs.items())))
        self._report.count("runs", len(self._runs))
        self._report.skip("journals of open runs (they need the blob key)", len(open_runs))
        self._skip_closed(is_there)

    def end_within(self, is_there: Callable[[str], bool]) -> None:
        """Where a ledger goes on: runs that are open there may end behind it."""
        open_runs = [run for run in self._runs.values() if run.finished is None]
        self._report.count("runs", len(self._runs))
        self._report.skip("journals of runs that go on behind it (they need the blob key)", len(open_runs))
        self._skip_closed(is_there)

    def _skip_closed(self, is_there: Callable[[str], bool]) -> None:
        """Says how many runs are under keys of subjects; the state says whose keys were erased."""
        for subject, runs in self._closed_runs.items():
            were_erased = is_there(ERASED + subject)
            which = "whose keys were erased" if were_erased else "under keys of subjects"
            self._report.skip(f"journals and bodies of runs {which}", runs)

    def _entry(self, run: Run, text: str, entry: dict[str, Any]) -> None:
        kind = entry.get("k")
        name = f"journal entry {run.entries} of run {run.id}"
        require(isinstance(kind, str) and kind in MEMBERS, f"kind of {name}", kind, sorted(MEMBERS))
        assert isinstance(kind, str)
        encrypted = entry.get("$encrypted")
        equal(f"encryption of {name}", encrypted is not None, run.is_encrypted if run.entries > 0 else encrypted is not None)
        if encrypted is not None:
            require(is_encrypted(encrypted), f"encrypted text of {name}", encrypted, "name of a key, and base64")
            require(set(entry) <= CLEAR, f"members of {name}", sorted(entry), sorted(CLEAR))
            run.key = run.key or encrypted[:KEY_NAME]
            equal(f"key of {name}", encrypted[:KEY_NAME], run.key)
        wanted = {"status"} & MEMBERS[kind] if encrypted is not None else MEMBERS[kind]
        missing = (wanted | {"at", "k", "n", "run"}) - set(entry)
        require(not missing, f"members of {name}", sorted(entry), sorted(missing))
        equal(f"run of {name}", entry["run"], run.id)
        equal(f"n of {name}", entry["n"], run.entries)
        equal(f"first entry of run {run.id}", kind == "run.started", run.entries == 0)
        require(run.finished is None, f"entry after the end of run {run.id}", kind, None)
        at = entry["at"]
        require(is_integer(at) and at >= run.at, f"at of {name}", at, run.at)
        run.before_end = run.chain
        # h0 = sha256(text 0); hn = sha256(h(n-1) as 64 hex digits || text n)
        run.chain = hash_text(run.chain + text)
        run.entries += 1
        run.at = at
        if "status" in entry:
            require(entry["status"] in STATUS.get(kind, ENDS), f"status of {name}", entry["status"], STATUS.get(kind, ENDS))
            run.status = entry["status"]
        if encrypted is not None:
            self._closed(run, kind, entry)
            return
        try:
            self._facts(run, kind, entry)
        except Failure as failure:
            failure.where = failure.where or name
            raise
        self._report.count("journal entries")

    def _closed(self, run: Run, kind: str, entry: dict[str, Any]) -> None:
        """An entry under the key of a subject, which this verifier does not have."""
        assert run.key is not None
        if kind == "run.started":
            run.started = entry
            subject = run.key[:32]
            self._closed_runs[subject] = self._closed_runs.get(subject, 0) + 1
        elif kind == "run.finished":
            run.finished = entry
        self._report.count("encrypted journal entries")

    def _response(self, run: Run, kind: str, response: Any) -> None:
        """How an attempt, a composite or a run ended (docs/spec/journal.md)."""
        done = isinstance(response, dict) and response.get("success") is True
        shape = SUCCESS if done else FAILURE
        equal("response", isinstance(response, dict) and sorted(response), sorted(shape))
        equal("success", response["success"], done)
        equal("data of a failure", None if done else response["data"], None)
        if kind == "run.finished":
            equal(f"status of run {run.id}", run.status, "done" if done else "cancelled" if run.is_cancelled else "failed")

    def _facts(self, run: Run, kind: str, entry: dict[str, Any]) -> None:
        """Hashes of an entry that follow from its own members."""
        if "response" in MEMBERS[kind]:
            self._response(run, kind, entry["response"])
        if kind in ("run.waiting", "run.resumed", "run.finished"):
            run.tags.said(entry)
        if kind == "run.started":
            run.started = entry
            run.obligations = Obligations(entry, self._report)
            equal("inputHash of the run", entry["inputHash"], hash_json(entry["input"]))
            if "classes" in entry:
                self._classes(entry["classes"], entry["definition"])
            self._definition(run, entry)
        elif kind == "requested":
            place = [run.id, entry["path"], entry["step"], entry["seq"], entry["requestHash"]]
            equal("key of a request", entry["key"], hash_json(place))
            run.obligations.asked(entry)
        elif kind == "sealed":
            salted = {"body": entry["body"], "salt": entry["salt"]}
            equal("responseHash", entry["responseHash"], hash_json(salted))
            run.sealed.setdefault(_sealed_name(entry, len(canonical(entry["body"]).encode())), []).append(entry["path"])
            self._report.count("sealed results")
            run.approvals.sealed(entry)
            run.obligations.sealed(entry)
            run.signals.sealed(entry)
            run.tags.sealed(entry)
            if entry["effect"] == LIST:
                run.listed.setdefault(_listing(entry, entry["requestHash"]), set()).add(hash_json(entry["body"]))
        elif kind == "rewound":
            run.obligations.rewound(entry)
            run.signals.rewound(entry)
        elif kind == "settled":
            self._lists(run, entry, entry.get("overlay", {}))
            run.approvals.settled(entry)
            run.obligations.settled(entry)
            run.signals.settled(entry)
        elif kind == "wait":
            self._wait(run, entry)
            run.obligations.waits(entry)
            run.waits[entry["token"]] = entry
            run.approvals.asked(entry)
        elif kind == "signal":
            run.signals.sent(entry)
        elif kind == "approval":
            run.approvals.approved(entry)
        elif kind in ("answered", "decision"):
            run.approvals.decided(entry)
        elif kind == "run.waiting":
            self._shown(run, entry["waits"])
        elif kind == "cancel":
            run.is_cancelled = True
        elif kind == "run.finished":
            run.finished = entry
            equal("journalHash", entry["journalHash"], run.before_end)

    def _lists(self, run: Run, entry: dict[str, Any], overlay: dict[str, Any]) -> None:
        """What a step inside an atomic composite has listed was sealed for its attempt."""
        if "lists" not in overlay:
            return
        lists = overlay["lists"]
        prefixes = [prefix for prefix, _ in lists]
        require(prefixes != [], "overlay.lists", lists, "at least one")
        # By UTF-16 code units, as keys of objects are.
        equal("order of overlay.lists", prefixes, sorted(set(prefixes), key=lambda text: text.encode("utf-16-be")))
        for prefix, listed in lists:
            hashes = run.listed.get(_listing(entry, hash_json({"effect": LIST, "request": prefix})), set())
            require(listed in hashes, f"keys below {prefix}", listed, sorted(hashes))
            self._report.count("listings of steps")

    def _classes(self, classes: dict[str, str], definition: dict[str, Any]) -> None:
        """Classes by which the charts decide (docs/spec/journal.md, Classes)."""
        for name in classes:
            require(classes[name] in CLASSES, f"class of {name}", classes[name], CLASSES)
        names = blocks_without_class(definition)
        if names is not None:
            equal("blocks with a class", sorted(classes), sorted(names))

    def _definition(self, run: Run, entry: dict[str, Any]) -> None:
        """The definition hash, where the journal has what it covers."""
        computed = definition_hash(entry)
        if computed is None:
            self._report.skip("definition hashes (of documents with others inside, or whose blocks no pin names)")
        else:
            equal("definitionHash", entry["definitionHash"], computed)
            self._report.count("definition hashes")

    def _wait(self, run: Run, entry: dict[str, Any]) -> None:
        """Token and digest (docs/spec/waits.md)."""
        place = [entry["path"], entry["step"], entry["attempt"], entry["seq"], entry["requestHash"]]
        asking = self._asking(run, place, entry)
        equal("token", entry["token"], hash_json(["wait", run.id, *place, *([asking] if asking else [])])[:32])
        digested = {
            "arguments": entry["request"], "chain": None, "identity": self._identity, "path": entry["path"],
            "policyHash": policy_hash(entry.get("approvers")), "runId": run.id, "signer": None, "step": entry["step"], **asking,
        }  # fmt: skip
        self._wait_request(run, entry)
        if entry["seq"] is None:
            block_hash = run.started["definitionHash"]
        elif run.is_intent:
            block_hash = INTENT_CODE_HASH
        elif "blockHash" in entry:
            block_hash = entry["blockHash"]
        else:
            self._report.skip("digests of waits (the journal does not name the block's code hash)")
            return
        equal("digest", entry["digest"], hash_json({**digested, "blockHash": block_hash}))
        self._report.count("digests of waits")

    def _shown(self, run: Run, waits: list[dict[str, Any]]) -> None:
        """What a parked run shows are waits that its journal has asked."""
        for shown in waits:
            asked = run.waits.get(shown["token"])
            require(asked is not None and SHOWN <= set(shown), "wait that is shown", shown, asked)
            assert asked is not None
            if "blockHash" in shown:
                equal("runId of a wait that is shown", shown.get("runId"), run.id)
                equal("identity of a wait that is shown", shown.get("identity"), self._identity)
            equal("approvals of a wait that is shown", shown.get("approvals", []), run.approvals.given(shown["token"]))
            equal("approvers of a wait that is shown", shown.get("approvers"), asked.get("approvers"))
            for name in set(shown) & set(asked):
                equal(f"{name} of a wait that is shown", shown[name], asked[name])

    def _wait_request(self, run: Run, entry: dict[str, Any]) -> None:
        """`requestHash` follows from the request that is shown."""
        request = entry["request"]
        if entry["seq"] is None:
            expected = run.started["definitionHash"]
        elif entry["reason"] == "poll":
            expected = hash_json({"effect": "timer", "request": request})
        elif is_for_signal(entry):
            expected = hash_json({"effect": SIGNAL, "request": request})
        elif entry["reason"] == "decision":
            expected = hash_json({"effect": request["unknown_outcome"], "request": request["request"]})
        else:
            signed = {"approvers": entry["approvers"]} if "approvers" in entry else {}
            expected = hash_json({"effect": "wait", "request": request, **signed})
        equal("requestHash of a wait", entry["requestHash"], expected)

    def _asking(self, run: Run, place: list[Any], entry: dict[str, Any]) -> dict[str, int]:
        """The number of a question that is asked again. Ledgers of 0.1.0 have none on any asking."""
        if not entry["actions"]:
            return {}
        name = canonical(place)
        times = run.askings[name] = run.askings.get(name, 0) + 1
        if "asking" not in entry:
            return {}
        require(times > 1, "asking of a first question", entry["asking"], None)
        equal("asking", entry["asking"], times)
        return {"asking": times}

    def _check_sealed(self, run: Run, sealed: list[dict[str, Any]], path: str) -> None:
        """What a receipt calls sealed was sealed in the journal, at its path or below it."""
        for entry in sealed:
            paths = run.sealed.get(_sealed_name(entry, entry["bytes"]), [])
            below = any(found == path or found.startswith((path + "/", path + "~")) for found in paths)
            require(below, "sealed result that the journal does not have", entry, paths)

    def _completed(self, run: Run, receipt: dict[str, Any], item: Item, result: Body) -> None:
        """`run.completed`: everything that its payload commits to (docs/spec/receipt.md, What runs)."""
        end = item.journal[-1][1]
        equal("entry beside run.completed", [end["k"], end.get("status")], ["run.finished", "done"])
        place = receipt["inputPayload"]["run"]
        equal("place of run.completed", [place["path"], place["step"]], ["root", 0])
        started = run.started
        version = started["definition"]["version"]
        expected = {
            "definitionHash": started["definitionHash"],
            "inputHash": started["inputHash"],
            "journalHash": run.before_end,
            "name": started["name"],
            "receipts": {"count": run.receipts.size, "root": run.receipts.root().hex()},
            "version": version,
        }
        provider = receipt["inputPayload"]["provider"]
        equal("provider.kind", provider["kind"], "composite")
        equal("provider.id", provider["id"], f"{started['name']}@{version}")
        equal("provider.codeHash", provider["codeHash"], started["definitionHash"])
        body = self._blobs.field("payload", receipt["inputPayload"]["payload"], item, True)
        if body.known:
            for name in expected:
                equal(f"run.completed {name}", body.value.get(name), expected[name])
            equal("members of run.completed", sorted(body.value), sorted(expected))
            self._report.count("run.completed receipts")
        else:
            self._report.skip("run.completed receipts whose payload is withheld")
        self._blobs.expect(result, hash_json(end["response"].get("data")), "result of the run")

    def _intent(self, run: Run, receipt: dict[str, Any], item: Item, result: Body) -> None:
        """A run that is one intent: its receipt comes with its end."""
        end = item.journal[-1][1]
        equal("entry beside an intent's receipt", [end["k"], end.get("status")], ["run.finished", "done"])
        place = receipt["inputPayload"]["run"]
        equal("place of an intent", [place["path"], place["step"]], ["root", 1])
        equal("intent of the run", receipt["intent"], run.started["name"])
        settled = [entry for _, entry in item.journal if entry["k"] == "settled"]
        require(len(settled) == 1, "settled entry beside an intent's receipt", len(settled), 1)
        self._provider(receipt, settled[0])
        self._blobs.expect(result, hash_json(end["response"].get("data")), "result of the intent")

    def _settled(self, run: Run, place: dict[str, Any], item: Item, result: Body) -> None:
        """A unit inside a run: `settled` of a block, or `scope` of an atomic composite, stands beside its receipt."""
        receipt = item.receipt[1] if item.receipt is not None else {}
        for _, entry in item.journal:
            if [entry.get(name) for name in ("path", "step", "attempt")] != [place[name] for name in ("path", "step", "attempt")]:
                continue
            if entry["k"] == "settled":
                equal("success of the unit", entry["response"].get("success"), True)
                self._provider(receipt, entry)
                self._blobs.expect(result, hash_json(entry["response"].get("data")), "result of the unit")
                return
            if entry["k"] == "scope" and entry["outcome"] == "committed":
                if result.known:
                    equal("result of the composite", result.value["result"], entry["response"].get("data"))
                return
        raise Failure("journal entry beside a receipt", None, place)

    def _provider(self, receipt: dict[str, Any], settled: dict[str, Any]) -> None:
        if "provider" in settled:
            signed = without(receipt["inputPayload"]["provider"], "profile")
            equal("provider", settled["provider"], signed)


def _listing(entry: dict[str, Any], request_hash: str) -> str:
    return canonical([entry["path"], entry["step"], entry["attempt"], request_hash])


def _sealed_name(entry: dict[str, Any], size: int) -> str:
    return canonical([entry["seq"], entry["effect"], entry["requestHash"], entry["responseHash"], size])
