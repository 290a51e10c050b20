import { defineBlock, type Runtime } from '../../src/index.js'
import { createRuntime, openLocation } from '../../src/runtime/index.js'
import { type Contender, measured, Scratch, settledHeapBytes } from '../measure.js'
import { against, type Group, shown } from '../row.js'

const ACTIVE = 100
const INTENTS = 10

const keep = defineBlock({
  name: 'bench.keep',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['bench.keep'],
  run: (ctx, { n }: { readonly n: number }) => {
    ctx.state.set('n', n)
    return { n }
  }
})
const code = { insecurePlaintextKey: true, create: 'if-absent', blocks: [keep] } as const

/**
 * Many identities of one location, of which a hundred have work at once: what one costs to make,
 * to open and to keep open, and what they commit, against a hundred locations of their own, and
 * against as much at once in one ledger.
 */
export const tenants: Group = {
  rows: [
    'tenants.make',
    'tenants.location-open',
    'tenants.open',
    'tenants.bytes-per-open',
    'tenants.intents',
    'tenants.intents.cpu',
    'tenants.floor.apart',
    'tenants.one-ledger'
  ],
  async measure({ full, rounds }) {
    const count = full ? 10_000 : 1_000
    const scratch = new Scratch()
    const location = scratch.directory()
    const names = Array.from({ length: count }, (_, place) => `tenant-${place}`)
    const making = await openLocation({ location, ...code })
    const makeMs = await timed(async () => void (await making.create(names)))
    await making.close()

    let opened = making
    const locationMs = await timed(async () => {
      opened = await openLocation({ location, ...code })
    })
    const active = names.filter((_, place) => place % (count / ACTIVE) === 0)
    const before = settledHeapBytes()
    let held: readonly Runtime[] = []
    const openMs = await timed(async () => {
      held = await Promise.all(active.map((name) => opened.identity(name)))
    })
    const bytes = settledHeapBytes() - before

    const alone = () => createRuntime({ location: scratch.directory(), ...code, serve: false })
    const apart = await Promise.all(active.map(alone))
    const one = await alone()
    const all = await measured(
      [
        contender('apart', apart, () => Promise.all(apart.map((tally) => tally.close()))),
        contender('shared', held, () => opened.close()),
        contender('one', Array<Runtime>(ACTIVE).fill(one), () => one.close())
      ],
      rounds
    )
    scratch.remove()
    const { rate: floor = 0, cpuUs: floorUs = 0 } = all.get('apart') ?? {}
    const { rate = 0, cpuUs = 0 } = all.get('shared') ?? {}
    return [
      shown('tenants.make', (count * 1_000) / makeMs, 'identities/s', 'higher'),
      shown('tenants.location-open', locationMs, 'ms', 'lower'),
      shown('tenants.open', openMs / ACTIVE, 'ms', 'lower'),
      shown('tenants.bytes-per-open', bytes / ACTIVE, 'bytes', 'lower'),
      against('tenants.intents', rate, { floor, target: 1, unit: 'intents/s' }),
      { ...cpuRow, value: cpuUs, floor: floorUs, ratio: cpuUs / floorUs },
      shown('tenants.floor.apart', floor, 'intents/s', 'higher'),
      shown('tenants.one-ledger', all.get('one')?.rate ?? 0, 'intents/s', 'higher')
    ]
  }
}

const cpuRow = {
  name: 'tenants.intents.cpu',
  unit: 'us/intent',
  target: null,
  better: 'lower'
} as const

/** Each has one intent after the other done, all of them at once. */
function contender(
  name: string,
  tenants: readonly Runtime[],
  close: () => Promise<unknown>
): Contender {
  const work = async (tenant: Runtime) => {
    for (let n = 0; n < INTENTS; n += 1) {
      await tenant.intent({ action: 'bench.keep', payload: { n } })
    }
  }
  return {
    name,
    run: async () => {
      await Promise.all(tenants.map(work))
      return tenants.length * INTENTS
    },
    close: async () => void (await close())
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}
