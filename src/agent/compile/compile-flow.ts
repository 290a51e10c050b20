import type { CompositeDefinition } from '../../block/index.js'
import { atOnce, isSliceFull, type Json, type Pieces, passSteps } from '../../core/index.js'
import type { PromptAssetManifest } from '../assets/manifest.js'
import { parsingManifest } from '../assets/parse-manifest.js'
import type { NodeBinding } from '../binding/bind.js'
import { nodeProblems } from '../binding/node-bounds.js'
import { error, type FlowFinding, hasErrors } from '../flow/finding.js'
import { lintFlow } from '../flow/lint.js'
import { parsingFlow } from '../flow/parse.js'
import type { FlowDocument, FlowNode } from '../flow/schema.js'
import { validatingFlow } from '../flow/validate.js'
import { FlowEdges } from './edges.js'
import type { FlowHost } from './flow-host.js'
import { compositeNameOf, nodeNamesOf } from './names.js'
import { type CompiledFlowNode, compilingNode } from './node.js'

/** A flow as the composite that runs it, or what is wrong with it. */
export type CompiledFlow =
  | {
      readonly ok: true
      readonly flow: FlowDocument
      readonly definition: CompositeDefinition
      readonly bindings: readonly NodeBinding[]
      readonly warnings: readonly FlowFinding[]
      /** What it chooses and the host does not allow: no run of it begins here (K15). */
      readonly refused: readonly FlowFinding[]
    }
  | { readonly ok: false; readonly findings: readonly FlowFinding[] }

/**
 * A flow as a composite (A2): everything that an agent needs, prompts included, stands
 * in the definition, so that a run needs neither the directory of prompts nor the host's adapters
 * to be done again. What is wrong is data.
 */
export function compileFlow(document: Json, host: FlowHost): CompiledFlow {
  return atOnce(compilingFlow(document, host))
}

/** {@link compileFlow} in pieces: other work may be done wherever it yields. */
export function* compilingFlow(
  document: Json,
  host: FlowHost
): Generator<undefined, CompiledFlow, undefined> {
  const parsed = yield* parsingFlow(document)
  if (!parsed.ok) return parsed
  const { flow } = parsed
  yield
  const found = yield* validatingFlow(flow)
  const assets = yield* assetsOf(flow)
  if (!assets.ok) return { ok: false, findings: [...found, ...assets.findings] }
  if (hasErrors(found)) return { ok: false, findings: found }
  return yield* compileValid(flow, assets.manifest, host)
}

function* compileValid(
  flow: FlowDocument,
  assets: PromptAssetManifest | undefined,
  host: FlowHost
): Pieces<CompiledFlow> {
  const { nodes, startNodeId } = flow.graph
  const names = nodeNamesOf(nodes.map(({ nodeId }) => nodeId))
  const edges = new FlowEdges(flow, names)
  const options = { flow, assets, edges, host }
  const compiled: { readonly node: FlowNode; readonly result: CompiledFlowNode }[] = []
  for (const [index, node] of nodes.entries()) {
    if (isSliceFull()) yield
    compiled.push({ node, result: yield* compilingNode(node, ['graph', 'nodes', index], options) })
  }
  const findings = compiled.flatMap(({ result }) => (result.ok ? [] : result.findings))
  if (findings.length > 0) return { ok: false, findings }
  const good = compiled.flatMap(({ node, result }, index) =>
    result.ok ? [{ node, path: ['graph', 'nodes', index], ...result }] : []
  )
  const transitions: [string, ReturnType<FlowEdges['branches']>][] = []
  for (const node of nodes) {
    const branches = edges.branches(node)
    passSteps(STEPS_OF_BRANCH * (1 + branches.length))
    if (isSliceFull()) yield
    if (branches.length > 0) transitions.push([edges.name(node.nodeId), branches])
  }
  return {
    ok: true,
    flow,
    definition: {
      name: compositeNameOf(flow.meta.name),
      version: flow.meta.version,
      maxSteps: flow.runtime.maxSteps,
      atomic: false,
      entryPoint: edges.name(startNodeId),
      nodes: Object.fromEntries(
        good.map(({ node, definition }) => [edges.name(node.nodeId), definition])
      ),
      transitions: Object.fromEntries(transitions)
    },
    bindings: good.flatMap(({ binding }) => (binding === undefined ? [] : [binding])),
    warnings: [...lintFlow(flow), ...good.flatMap(({ warnings }) => warnings)],
    refused: good.flatMap(({ definition, path }) => nodeProblems(definition, host, path))
  }
}

/** Work of one way from a node. */
const STEPS_OF_BRANCH = 8

type Assets =
  | { readonly ok: true; readonly manifest: PromptAssetManifest | undefined }
  | { readonly ok: false; readonly findings: readonly FlowFinding[] }

function* assetsOf({ extensions }: FlowDocument): Pieces<Assets> {
  const { promptAssets } = extensions
  if (promptAssets === undefined) return { ok: true, manifest: undefined }
  const parsed = yield* parsingManifest(promptAssets as Json)
  if (parsed.ok) return parsed
  const path = ['extensions', 'promptAssets']
  return { ok: false, findings: [error('agent_asset_invalid', path, parsed.problem)] }
}
