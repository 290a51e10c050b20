import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { defineBlock, defineWorkflow } from '../../src/code/index.js'
import { Xorshift128 } from '../../src/core/index.js'
import { openLocation, type Runtime } from '../../src/runtime/index.js'
import { builtModule } from '../support/built.js'
import { cases } from '../support/effort.js'

const worker = fileURLToPath(new URL('tenants-kill/worker.mjs', import.meta.url))
const library = builtModule('index.js')
const LIVES = cases({ usual: 3, long: 5, soak: 40 })
const TENANTS = 8

const count = defineBlock({
  name: 'count',
  version: '1',
  sideEffects: 'none',
  intents: ['count'],
  run: (ctx, { value }: { readonly value: number }) => {
    ctx.state.set(`count/${value}`, value)
    return { value }
  }
})
const slowly = defineWorkflow({
  name: 'slowly',
  version: '1',
  blocks: [count],
  async run(ctx, { value }: { readonly value: number }) {
    await ctx.step('count', count, { value })
    await ctx.sleep(1)
    return { value }
  }
})

interface Acknowledged {
  readonly made: Set<string>
  /** By name: what was done, and runs that have begun. */
  readonly done: Map<string, Set<number>>
  readonly began: Map<string, Set<string>>
}

/** Lets a process write until it has acknowledged so much, and kills it in the midst of that. */
async function killedAfter(
  lines: number,
  given: { readonly location: string; readonly names: readonly string[]; readonly from: number[] },
  { made, done, began }: Acknowledged
): Promise<void> {
  const argument = JSON.stringify({ library, ...given })
  const child = spawn(process.execPath, [worker, argument], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exit = once(child, 'exit')
  let left = lines
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, name = '', value = ''] = line.split(' ')
    if (what === 'made') made.add(name)
    if (what === 'done') within(done, name).add(Number(value))
    if (what === 'began') within(began, name).add(value)
    left -= 1
    if (left === 0) child.kill('SIGKILL')
  }
  expect(await exit).toEqual([null, 'SIGKILL'])
}

function within<Value>(sets: Map<string, Set<Value>>, name: string): Set<Value> {
  const set = sets.get(name) ?? new Set()
  sets.set(name, set)
  return set
}

async function valuesOf(tenant: Runtime): Promise<ReadonlySet<number>> {
  const values = new Set<number>()
  for (let after: string | undefined; ; ) {
    const page = await tenant.state.list('count/', after === undefined ? {} : { after })
    for (const { key } of page.items) values.add(Number(key.slice('count/'.length)))
    if (page.next === null) return values
    after = page.next
  }
}

it('L16: of many that write at once nothing acknowledged is lost, kill after kill', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tally-tenants-'))
  const location = join(folder, 'ledger')
  const random = new Xorshift128('tenants-kill')
  const names = Array.from({ length: TENANTS }, (_, place) => `tenant-${place}`)
  const acknowledged: Acknowledged = { made: new Set(), done: new Map(), began: new Map() }
  try {
    for (let life = 0; life < LIVES; life += 1) {
      const from = names.map((name) => 1 + Math.max(-1, ...within(acknowledged.done, name)))
      const lines = TENANTS + 1 + (random.uint32() % 300)
      await killedAfter(lines, { location, names, from }, acknowledged)
    }
    await using opened = await openLocation({
      ...{ location, insecurePlaintextKey: true, serve: false },
      ...{ blocks: [count], workflows: [slowly] }
    })
    expect(acknowledged.made.size).toBeGreaterThan(0)
    const hashes = new Set<string>()
    for (const name of acknowledged.made) {
      await using tenant = await opened.identity(name)
      for (const id of within(acknowledged.began, name)) {
        expect((await (await tenant.attach(id)).result).status, `${name} ${id}`).toBe('done')
      }
      const values = await valuesOf(tenant)
      const missing = [...within(acknowledged.done, name)].filter((value) => !values.has(value))
      expect(missing, name).toEqual([])
      expect(await tenant.verify(), name).toMatchObject({ ok: true })
      for await (const { receipt } of tenant.receipts()) {
        expect(hashes.has(receipt.receiptHash)).toBe(false)
        hashes.add(receipt.receiptHash)
      }
    }
    // What was under way when the last one was killed is gone on with without being asked for.
    const lines = await opened.identities()
    expect(lines.map(({ problem }) => problem)).toEqual(lines.map(() => null))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
