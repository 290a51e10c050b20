"""Definition hashes (docs/spec/composite-document.md, Definition hash) as far as a journal gives what they cover."""

from __future__ import annotations

from typing import Any, Iterator, Optional

from .canonical import hash_json, utf16

CHART_VERSION = "1"
INTENT = "tally-intent/1"
FUNCTION = "tally-function/1"


def definition_hash(started: dict[str, Any]) -> Optional[str]:
    """The hash of what a run runs, or None when it covers what only the host knows: versions that no pin
    names, and documents or graphs inside of this one."""
    definition, pins = started["definition"], started.get("pins", {})
    if definition.get("schema") == INTENT:
        return hash_json(definition)
    if definition.get("schema") == FUNCTION:
        charts = {"block": CHART_VERSION, "function": CHART_VERSION}
        return hash_json({"charts": charts, "definition": definition, "schema": FUNCTION})
    is_plan = isinstance(definition["nodes"], list)
    nodes = nodes_of(definition["nodes"])
    blocks = [_block(name, nodes[name], pins.get("blocks", {})) for name in sorted(nodes, key=utf16)]
    if None in blocks:
        return None
    functions = [
        {"kind": kind, "name": name, "version": pins[kind + "s"][name]}
        for kind, name in sorted(set(_functions(definition, nodes)))
        if name in pins.get(kind + "s", {})
    ]
    return hash_json(
        {
            "blocks": blocks,
            "charts": {"block": CHART_VERSION, "plan" if is_plan else "composite": CHART_VERSION},
            "definition": definition,
            "schema": "tally-plan/1" if is_plan else "tally-composite/1",
            **({"functions": functions} if functions else {}),
        }
    )


def blocks_without_class(definition: dict[str, Any]) -> Optional[set[str]]:
    """Blocks that nodes name without a class of their own, or None when there are documents inside."""
    nodes = nodes_of(definition["nodes"]).values()
    if any(node["work"]["kind"] != "block" for node in nodes):
        return None
    return {node["work"]["block"] for node in nodes if "sideEffects" not in node}


def nodes_of(nodes: Any) -> dict[str, Any]:
    """Nodes of a composite or of a plan, by their names."""
    return {node["id"]: node for node in nodes} if isinstance(nodes, list) else nodes


def _block(node: str, given: dict[str, Any], pinned: dict[str, str]) -> Optional[dict[str, str]]:
    """A node that is a block, by the version that its name gives or was pinned to."""
    work = given["work"]
    if work["kind"] != "block":
        return None
    name, _, version = work["block"].partition("@")
    version = version or pinned.get(name, "")
    return {"name": name, "node": node, "version": version} if version else None


def _functions(definition: dict[str, Any], nodes: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Conditions and repairs that a graph names."""
    branches = [branch for list_ in definition.get("transitions", {}).values() for branch in list_]
    conditions = [branch["condition"] for branch in branches]
    conditions += [node["confirm"]["when"] for node in nodes.values() if "when" in (node.get("confirm") or {})]
    yield from (("condition", condition["name"]) for condition in conditions if condition["kind"] == "named")
    for node in nodes.values():
        yield from (("repair", step["repair"]) for step in node.get("recovery", []) if step["kind"] == "repair")
