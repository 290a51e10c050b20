import type {
  CompiledDocument,
  CompiledFunction,
  CompiledRootLeaf,
  JournalEntry,
  Provider,
  RootBlock,
  RunReplay,
  RunStarted
} from '../block/index.js'
import type { Block } from '../code/index.js'
import type { Hash } from '../core/index.js'
import type { VerifiedReceipt } from '../ledger/index.js'
import { notRegistered, otherCode } from './not-checked.js'

/** The code that is registered: what a ledger's receipts are compared with. */
export interface CodeSource {
  /** By `name` or `name@version`. */
  block(reference: string): Block | undefined
  /** What a run was made of, as far as it is here. */
  recorded(started: RunStarted): Promise<RecordedCode>
  /** Without it, compensations of providers are not compared. */
  provider?(name: string): Provider | undefined
}

/** A run's definition, compiled with the versions that the run names. */
export type RecordedCode =
  | {
      readonly kind: 'ready'
      readonly root: RootBlock
      readonly compiled: CompiledDocument | CompiledRootLeaf | CompiledFunction
      /** Where the names of this run lead. */
      readonly block: (reference: string) => Block | undefined
    }
  /** Not here, each as `name@version` where the version is known. */
  | { readonly kind: 'missing'; readonly missing: readonly string[] }
  | {
      readonly kind: 'changed'
      readonly difference: string
      /** All that its hash covers is here, and gives another. */
      readonly isContradicted: boolean
    }

/** Why the code that a receipt names cannot be executed here; undefined when it can. */
export async function missingCode(
  replay: RunReplay,
  entry: JournalEntry,
  { receipt }: VerifiedReceipt
): Promise<string | undefined> {
  for (const { block, provider } of replay.chosenIn(entry)) {
    const missing = await missingChosen(block, provider)
    if (missing !== undefined) return missing
  }
  const [block] = entry.k === 'scope' ? [] : replay.blocksOf(entry)
  if (block === undefined && entry.k !== 'settled') return undefined
  const { kind, id, codeHash } = receipt.inputPayload.provider
  if (block?.kernel !== undefined) return missingChosen(block, { kind, id, codeHash })
  return missingOf(block?.codeHash, { id, codeHash })
}

type Chosen = Parameters<NonNullable<Block['kernel']>['codeOf']>[0]

/** Why what the kernel chose for a step cannot be executed here; undefined when it can. */
export async function missingChosen(block: Block, chosen: Chosen): Promise<string | undefined> {
  const { kernel } = block
  return kernel === undefined ? undefined : missingOf(await kernel.codeOf(chosen), chosen)
}

function missingOf(
  registered: Hash | undefined,
  { id, codeHash }: Pick<Chosen, 'id' | 'codeHash'>
): string | undefined {
  if (registered === codeHash) return undefined
  return registered === undefined ? notRegistered([id]) : otherCode(id)
}
