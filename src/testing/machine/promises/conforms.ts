import type { JournalEntry } from '../../../block/index.js'
import type { CapabilityPackage } from '../../../capability/index.js'
import { type Json, type JsonObject, lazySchema } from '../../../core/index.js'
import type { StoredReceipt } from '../../../ledger/index.js'
import { outputSchema } from '../package-target.js'
import {
  type Broken,
  brokenByPackage,
  firstBroken,
  firstIn,
  type MachinePromise,
  shortened
} from './promise.js'

/** How the kernel ends packages that do not end by themselves, or give what cannot be kept. */
const faults: Readonly<Record<string, string>> = {
  not_loaded: 'its module does not load',
  never_settled: 'it waits for what cannot happen',
  invalid_value: 'what it gives is not plain JSON',
  invalid_key: 'it writes under a key that the ledger does not take',
  result_reserved_key: 'its result has a member that results may not have',
  result_invalid_ui: 'its result says wrongly how it is shown',
  diverged: 'it asks for something else when it is executed again'
}

/** A package gives what its manifest declares, or says itself that it has failed. */
export const conforms: MachinePromise = {
  code: 'conforms',
  text: 'a package returns or fails by itself, and its result is what its manifest declares',
  check: (evidence) => {
    const { packages } = evidence
    if (packages.length === 0) return undefined
    return firstBroken(evidence, ({ journals, receipts }) => {
      const entries = [...journals.values()].flat()
      return firstIn(entries, faulty) ?? firstIn(receipts, (one) => unfit(one, packages))
    })
  }
}

const faulty = (entry: JournalEntry) =>
  brokenByPackage(entry, (id, reason) => {
    const fault = Object.hasOwn(faults, reason) ? faults[reason] : undefined
    return fault && `${id} ends as ${reason}: ${fault}`
  })

function unfit(
  { receipt, resultText }: StoredReceipt,
  packages: readonly CapabilityPackage[]
): Broken | undefined {
  const { intent, dappId, inputPayload } = receipt
  const found = packages.find(({ manifest }) => manifest.id === dappId)
  const schema = found && outputSchema(found.manifest, intent)
  if (schema === undefined || resultText === undefined) return undefined
  const problem = misfit(schema, JSON.parse(resultText) as Json)
  if (problem === undefined) return undefined
  const path = inputPayload.run?.path
  return {
    problem: `the result of ${intent} is not what the manifest of ${dappId} declares`,
    expected: problem,
    actual: shortened(resultText),
    ...(path === undefined ? {} : { path })
  }
}

/** Where a value does not fit a JSON Schema, and how; undefined: it fits. */
function misfit(schema: JsonObject, value: Json): string | undefined {
  const checked = schemaOf(schema).safeParse(value)
  if (checked.success) return undefined
  const [issue] = checked.error.issues
  return [issue?.path.map(String).join('.') ?? '', issue?.message ?? ''].filter(Boolean).join(': ')
}

type Schema = ReturnType<ReturnType<typeof schemaMade>>

const known = new WeakMap<JsonObject, Schema>()

/** Made once for each manifest. */
function schemaOf(schema: JsonObject): Schema {
  const made = known.get(schema) ?? schemaMade(schema)()
  known.set(schema, made)
  return made
}

function schemaMade(schema: JsonObject) {
  return lazySchema((z) => z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]))
}
