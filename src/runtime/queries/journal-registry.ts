import type { RunStarted } from '../../block/index.js'
import { type Block, defineBlock } from '../../code/index.js'
import { type IdentityId, isJsonObject, type Json, versionedName } from '../../core/index.js'
import { isIntentDefinition } from '../../intent/index.js'
import { Registry } from '../code/registry.js'
import { pipelineFor } from '../intent/intent-pipeline.js'

/**
 * What charts need to know of a run's code, as its first entry has it: names, versions and
 * side-effect classes of blocks, of which none can run. For a ledger that is read without code;
 * what the definition hash covers is compared with it as ever.
 */
export async function registryOf(
  { definition, pins, classes = {} }: RunStarted,
  identity: IdentityId
): Promise<Registry> {
  const registry = await Registry.open({})
  const { sandbox } = pipelineFor(registry, { identity, realPath: undefined })
  // Nothing was started in it, and nothing will be.
  await sandbox.close()
  if (isIntentDefinition(definition)) return registry
  await registry.rooms.loadForBlocks(definition as never)
  for (const reference of namesOfBlocks(definition)) {
    const { name, version = pins?.blocks?.[name] } = versionedName(reference)
    if (version === undefined || registry.code.exact('blocks', name, version)) continue
    const sideEffects = Object.hasOwn(classes, reference) ? classes[reference] : undefined
    const block = neverRun(name, version, sideEffects ?? 'none')
    registry.code.add('blocks', block, block)
  }
  return registry
}

/** Stands for a block that is not here, where nothing runs. */
export function neverRun(
  name: string,
  version = '0',
  sideEffects: Block['sideEffects'] = 'none'
): Block {
  return defineBlock({
    name,
    version,
    sideEffects,
    run: (ctx) => ctx.fail('not_here')
  })
}

/** Blocks that a definition names, as `work` of nodes and as fallbacks. */
function namesOfBlocks(definition: Json): ReadonlySet<string> {
  const names = new Set<string>()
  const pending: Json[] = [definition]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (Array.isArray(value)) pending.push(...value)
    if (!isJsonObject(value)) continue
    const { kind, block, providers } = value
    if (kind === 'block' && typeof block === 'string') names.add(block)
    if (kind === 'fallback' && Array.isArray(providers)) {
      for (const name of providers) if (typeof name === 'string') names.add(name)
    }
    pending.push(...Object.values(value))
  }
  return names
}
