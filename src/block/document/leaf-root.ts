import { blockChart } from '../../../machines/block.js'
import type { ChartNode } from '../../../machines/composite.js'
import { canonicalize, hashJson, type JsonObject } from '../../core/index.js'
import type { LeafLibrary } from '../chart/leaf-actions.js'
import { leafLogic, leafTable } from '../chart/leaf-table.js'
import type { Block } from '../define.js'
import { ROOT_PATH } from '../protocol.js'
import type { RootBlock } from '../run/root-block.js'
import type { CompiledLeaf } from './graph/compiled.js'

/** A leaf at the root of a run, with what checkpoints and verification need of its chart. */
export interface CompiledRootLeaf extends CompiledLeaf {
  readonly config: ChartNode
  readonly configHash: RootBlock['definitionHash']
  readonly definitionHash: RootBlock['definitionHash']
  readonly library: LeafLibrary
}

// A single-step run has no recovery of its own: its caller tries again under another id.
const library: LeafLibrary = { repair: () => undefined }
const configHash = hashJson(blockChart)
const logic = leafLogic(library)

/** One leaf as a run of its own (L6): its receipt is all that the run leaves. */
export function leafRootOf(options: {
  /** As `run.started` keeps it; plain JSON. */
  readonly definition: JsonObject
  /** What lists of runs show. */
  readonly name: string
  readonly block: Pick<Block, 'name' | 'version' | 'sideEffects'>
}): { readonly root: RootBlock; readonly compiled: CompiledRootLeaf } {
  const { definition, name, block } = options
  const definitionText = canonicalize(definition)
  const definitionHash = hashJson(definition)
  const { version, sideEffects } = block
  const leaf = {
    kind: 'leaf',
    reference: block.name,
    name: block.name,
    version,
    sideEffects
  } as const
  const config: ChartNode = blockChart
  return {
    compiled: { ...leaf, config, configHash, definitionHash, library },
    root: {
      name,
      version,
      definition,
      definitionText: () => definitionText,
      definitionHash,
      logic,
      leafTable: () => leafTable(library),
      input: { path: ROOT_PATH, node: ROOT_PATH, block: block.name, sideEffects },
      isUnit: true,
      singleStepBlock: block.name,
      isPrivate: false,
      hasAlternatives: () => false,
      classes: () => undefined,
      compositeAt: () => ({ version, definitionHash })
    }
  }
}
