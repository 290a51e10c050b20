import { type CompiledRootLeaf, leafRootOf, type RootBlock } from '../block/index.js'
import { isJsonObject, type Json, type JsonObject } from '../core/index.js'
import { KERNEL_VERSION } from './kernel-version.js'
import { intentBlocks } from './names.js'

/** Name of the definition that a single-step run's `run.started` keeps. */
export const intentSchemaName = 'tally-intent/1'

/** `{ schema: 'tally-intent/1', action }`: a run that is one intent. */
export interface IntentDefinition {
  readonly schema: typeof intentSchemaName
  readonly action: string
}

export function isIntentDefinition(definition: unknown): definition is IntentDefinition {
  return (
    isJsonObject(definition) &&
    definition['schema'] === intentSchemaName &&
    typeof definition['action'] === 'string'
  )
}

/** The root of a run that is one intent; its input is the intent. */
export function intentRoot(
  { action }: Pick<IntentDefinition, 'action'>,
  isPrivate: RootBlock['isPrivate']
): {
  readonly root: RootBlock
  readonly compiled: CompiledRootLeaf
} {
  const definition: JsonObject & Record<string, Json> = { schema: intentSchemaName, action }
  const name = intentBlocks.non_idempotent
  const block = { name, version: KERNEL_VERSION, sideEffects: 'non_idempotent' } as const
  return leafRootOf({ definition, name: action, block, isPrivate })
}
