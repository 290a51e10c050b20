import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, connect } from '../../src/client/index.js'
import { defineBlock } from '../../src/code/index.js'
import { canonicalize, type Json } from '../../src/core/index.js'
import { createRuntime, type Runtime } from '../../src/runtime/index.js'
import { writtenInTurns } from '../../src/runtime/run/written-inputs.js'
import { cases } from '../support/effort.js'
import { stepsOf } from '../support/steps-between-turns.js'

/** What other processes send a ledger's owner, and get of it, is written in turns as it is read. */

const SLICE_STEPS = 10_000
const VALUES = cases({ usual: 100_000, long: 400_000, soak: 1_000_000 })
const numbers: readonly Json[] = Array.from({ length: VALUES }, (_, index) => index % 10)

/** Steps of one value: where it is read, and where it is written. */
const READ = 2
const WRITTEN = 1

const composite = (block: string) => ({
  schema: 'tally-composite/1',
  name: `does.${block}`,
  version: '1',
  entry_point: 'first',
  nodes: { first: { block } }
})

let directory: string
let tally: Runtime
let client: Client

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-owner-turns-'))
  const location = join(directory, 'ledger')
  const counts = defineBlock({ name: 'counts', version: '1', run: () => VALUES })
  const makes = defineBlock({ name: 'makes', version: '1', run: () => ({ numbers }) })
  const does = defineBlock({ name: 'does', version: '1', intents: ['does'], run: () => VALUES })
  const keys = { create: 'if-absent', insecurePlaintextKey: true } as const
  tally = await createRuntime({ location, ...keys, blocks: [counts, makes, does] })
  client = await connect({ location })
})

afterAll(async () => {
  await client.close()
  await tally.close()
  await rm(directory, { recursive: true, force: true })
})

async function turnsOf(act: () => Promise<unknown>) {
  const { mostOfSlice, total } = await stepsOf(act, { sliceSteps: SLICE_STEPS })
  expect(mostOfSlice).toBeLessThanOrEqual(3 * SLICE_STEPS)
  return total
}

it('the inputs of a run that another process starts', async () => {
  const total = await turnsOf(() => client.start(composite('counts'), { inputs: { numbers } }))
  // Read, written and read again: by the owner, and for the run to keep.
  expect(total).toBeGreaterThan((2 * READ + WRITTEN) * VALUES)
})

it('the payload of an intent that another process asks for', async () => {
  let reply: unknown
  const total = await turnsOf(async () => {
    reply = await client.intent({ action: 'does', payload: { numbers } })
  })
  expect(reply).toMatchObject({ type: 'dapp', dappId: 'block:does@1' })
  expect(total).toBeGreaterThan((2 * READ + WRITTEN) * VALUES)
})

it('the answer that another process gets', async () => {
  await client.start(composite('makes'), { id: 'made' })
  let result: unknown
  const total = await turnsOf(async () => {
    result = await client.result('made')
  })
  expect(result).toMatchObject({ response: { data: { numbers } } })
  expect(total).toBeGreaterThan(WRITTEN * VALUES)
})

it('an event that another process gets', async () => {
  await client.result('made')
  const events: unknown[] = []
  const total = await turnsOf(async () => {
    for await (const entry of client.follow('made')) events.push(entry)
  })
  expect(canonicalize(events as Json)).toContain(canonicalize(numbers))
  expect(total).toBeGreaterThan(WRITTEN * VALUES)
})

it('inputs are the same run, and refused for the same, however many they are', async () => {
  const inputs = { b: numbers, a: { list: [numbers] } }
  const text = canonicalize(inputs)
  expect(await writtenInTurns(inputs)).toEqual({ text, value: inputs })
  expect(await writtenInTurns({ few: [1] })).toBeUndefined()
  expect(await client.start(composite('counts'), { id: 'same', inputs })).toMatchObject({
    isNew: true
  })
  expect(await tally.start(composite('counts'), { id: 'same', inputs })).toMatchObject({
    isNew: false
  })
  for (const bad of [
    { numbers, list: [{ $a: 1 }] },
    { numbers, list: [1e21] }
  ]) {
    const refused = await tally.start(composite('counts'), { inputs: bad }).catch((error) => error)
    expect(refused).toMatchObject({ code: 'core.not_ledger_value' })
    const here = client.start(composite('counts'), { inputs: bad })
    await expect(here).rejects.toMatchObject({ code: refused.code, message: refused.message })
  }
})
