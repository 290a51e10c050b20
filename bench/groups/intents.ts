import {
  type CapabilityProvider,
  createRegistry,
  createSandbox,
  makePackage,
  parseManifest,
  route
} from '../../src/capability/index.js'
import { elapsedMs, hashJson } from '../../src/core/index.js'
import { defineBlock, type Json } from '../../src/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { floorContender } from '../contenders.js'
import { type Contender, inParallel, interleaved, median, rateOf, Scratch } from '../measure.js'
import { against, type Group, type Row, shown } from '../row.js'

const INTENTS = 3_000
const WIDTH = 64
const CALLS = 300
const PACKAGES = 1_000
const ROUTES = 20_000

const served = defineBlock<Json, Json>({
  name: 'bench.served',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['bench.serve'],
  run: (_ctx, input) => ({ n: (input as { readonly n: number }).n })
})

/** Single-step runs: trusted blocks against the floor, packages in the sandbox, routing. */
export const intents: Group = {
  rows: ['intent.64', 'package.warm-call', 'package.calls', 'routing.1000'],
  async measure({ rounds }) {
    const scratch = new Scratch()
    const load = { workflows: INTENTS / 10, width: WIDTH }
    const rates = await interleaved(
      [
        await floorContender('floor', scratch, load, { form: 'group', stateKeys: 0 }),
        await intentContender('intents', scratch)
      ],
      rounds
    )
    scratch.remove()
    return [
      against('intent.64', rateOf(rates, 'intents'), {
        floor: rateOf(rates, 'floor'),
        target: 0.55,
        unit: 'intents/s'
      }),
      ...(await sandboxRows()),
      routingRow()
    ]
  }
}

async function intentContender(name: string, scratch: Scratch): Promise<Contender> {
  const tally = await createRuntime({
    location: scratch.directory(),
    create: 'if-absent',
    insecurePlaintextKey: true,
    blocks: [served]
  })
  let first = 0
  return {
    name,
    run: async () => {
      const from = first
      first += INTENTS
      await inParallel(INTENTS, WIDTH, async (index) => {
        const payload = { n: from + index, note: 'a trivial intent' }
        const reply = await tally.intent({ action: 'bench.serve', payload })
        if (reply.type !== 'dapp') throw new Error(JSON.stringify(reply))
      })
      return INTENTS
    },
    close: () => tally.close()
  }
}

/** One read and one write in a warm sandbox, without any commit. */
async function sandboxRows(): Promise<readonly Row[]> {
  const guest = packageOf({
    id: 'bench',
    capabilities: ['storage.read', 'storage.write'],
    bundle: `export function run(intent, api) {
      const count = (api.storage.get('count') ?? 0) + 1
      api.storage.set('count', count)
      return { count }
    }`
  })
  const sandbox = createSandbox()
  await sandbox.warm()
  const call = (index: number) =>
    sandbox.execute({
      package: guest,
      intent: { action: 'bench.run', payload: { index }, timestamp: index },
      granted: ['storage.read', 'storage.write'],
      recorded: [],
      now: index,
      seed: hashJson(index),
      read: () => '1'
    })
  for (let index = 0; index < CALLS; index += 1) await call(index)
  const took: number[] = []
  for (let index = 0; index < CALLS; index += 1) {
    const begin = elapsedMs()
    await call(index)
    took.push(elapsedMs() - begin)
  }
  const begin = elapsedMs()
  await inParallel(CALLS * 4, 8, async (index) => void (await call(index)))
  const rate = (CALLS * 4_000) / (elapsedMs() - begin)
  await sandbox.close()
  const value = median(took)
  return [
    {
      name: 'package.warm-call',
      value,
      unit: 'ms',
      floor: null,
      ratio: null,
      target: 1,
      better: 'lower'
    },
    shown('package.calls', rate, 'calls/s', 'higher')
  ]
}

function routingRow(): Row {
  const registry = createRegistry(
    Array.from({ length: PACKAGES }, (_, index) =>
      packageOf({ id: `p${index}`, capabilities: [], bundle: `export const run = ${index}` })
    )
  )
  const isGranted = ({ packageId }: CapabilityProvider) => packageId === 'p999'
  const begin = elapsedMs()
  for (let index = 0; index < ROUTES; index += 1) {
    const found = route(registry, { action: `p${index % PACKAGES}.run.deep`, isGranted })
    if (found.kind === 'no_match') throw new Error('nothing was found')
  }
  const value = ((elapsedMs() - begin) * 1_000) / ROUTES
  return {
    name: 'routing.1000',
    value,
    unit: 'us',
    floor: null,
    ratio: null,
    target: 20,
    better: 'lower'
  }
}

function packageOf(parts: {
  readonly id: string
  readonly capabilities: readonly string[]
  readonly bundle: string
}) {
  const { id, capabilities, bundle } = parts
  const intents = [`${id}.run`]
  const parsed = parseManifest({ id, name: id, intents, capabilities: [...capabilities] })
  if (!parsed.ok) throw new Error(parsed.refusals[0]?.message)
  return makePackage({ manifest: parsed.manifest, bundle })
}
