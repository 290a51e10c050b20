import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { type IdentityId, Xorshift128 } from '../../src/core/index.js'
import { inspectLocation } from '../../src/ledger/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { builtModule } from '../support/built.js'
import { cases } from '../support/effort.js'
import { startWriter } from './crash-store/process.js'
import { keyInForce } from './crash-store/rotate-worker.mjs'
import { COUNTS_PER_RUN, workerBlocks, workerDocument } from './crash-store/runtime-worker.mjs'

const KILLS = cases({ usual: 3, long: 5, soak: 100 })
const ROTATION_KILLS = cases({ usual: 2, long: 3, soak: 60 })
/** Longest life after the last rotation that is waited for, milliseconds: some take less. */
const ROTATION_MS_MAX = 12
/** Longest life after the first run that it ended, milliseconds. */
const LIFE_MS_MAX = 120

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-crash-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

describe('a killed runtime', () => {
  it('L1, L6, L7: loses nothing acknowledged and does nothing twice, kill after kill', {
    timeout: KILLS * 10_000
  }, async () => {
    const random = new Xorshift128('crash-runtime')
    const location = join(directory, 'ledger')
    const world = join(directory, 'world')
    const told = new Map<string, string>()
    for (let life = 1; life <= KILLS; life += 1) {
      const first = random.uint32() % 3
      const later = random.uint32() % LIFE_MS_MAX
      let lines = 0
      await startWriter(
        'runtime-worker.mjs',
        [builtModule('index.js'), location, world],
        (line, kill) => {
          const [status, id = '', hash = ''] = line.split(' ')
          if (status !== 'done') throw new Error(line)
          expect(told.get(id) ?? hash, `${id} ended twice`).toBe(hash)
          told.set(id, hash)
          lines += 1
          if (lines === 1 && first === 0) kill()
          else if (lines === 1) setTimeout(kill, later)
        }
      )
    }
    const runtime = await createRuntime({
      location,
      insecurePlaintextKey: true,
      blocks: workerBlocks(defineBlock, world)
    })
    expect(runtime.status().mode).toBe('ready')
    let runs = 0
    for await (const { runId } of runtime.runs()) {
      runs += 1
      const { status } = await runtime.begin(workerDocument, { id: runId, inputs: {} }).result
      expect(status, runId).toBe('done')
    }
    expect(runs).toBeGreaterThanOrEqual(told.size)
    for (const [id, hash] of told) {
      const stored = await runtime.receipt(hash as Parameters<typeof runtime.receipt>[0] & string)
      expect(stored?.receipt.inputPayload.run?.runId, `${id} was acknowledged and is gone`).toBe(id)
    }
    expect(runtime.ledger.read('total')).toBe(String(runs * COUNTS_PER_RUN))
    const deeds = existsSync(world) ? readFileSync(world, 'utf8').trim().split('\n') : []
    const requests = deeds.map((line) => line.slice(0, line.lastIndexOf(' ')))
    expect(new Set(requests).size, 'something was done twice').toBe(requests.length)
    expect(requests).toHaveLength(3 * runs)
    const report = await runtime.verify()
    expect(report.failure).toBeUndefined()
    expect(report.ok).toBe(true)
    await runtime.close()
  })

  it('L4, L11: a second process is refused while the first runs', async () => {
    const location = join(directory, 'ledger')
    const world = join(directory, 'world')
    const runtime = await createRuntime({
      location,
      create: 'if-absent',
      insecurePlaintextKey: true,
      blocks: workerBlocks(defineBlock, world)
    })
    const lines: string[] = []
    const [, result] = await Promise.all([
      startWriter('runtime-worker.mjs', [builtModule('index.js'), location, world], (line) =>
        lines.push(line)
      ),
      runtime.begin(workerDocument, { id: 'mine', inputs: {} }).result
    ])
    expect(lines.join()).toMatch(/^ledger.locked /)
    expect(result.status).toBe('done')
    expect(runtime.status().receipts).toBe(7)
    await runtime.close()
  })

  it('K2: kill after kill, a key is the old or the new one, and an identity made whole or not', {
    timeout: ROTATION_KILLS * 20_000
  }, async () => {
    const random = new Xorshift128('crash-rotation')
    const location = join(directory, 'ledger')
    const told: string[] = []
    const made: string[] = []
    for (let life = 1; life <= ROTATION_KILLS; life += 1) {
      const acts = 1 + (random.uint32() % 5)
      const later = random.uint32() % ROTATION_MS_MAX
      let lines = 0
      await startWriter('rotate-worker.mjs', [builtModule('index.js'), location], (line, kill) => {
        const [kind, publicKey = ''] = line.split(' ')
        if (kind === 'made') made.push(publicKey)
        // What was acknowledged stands; at most the one that was under way may exist besides.
        if (kind === 'ready' && told.length > 0 && told.at(-1) !== publicKey) {
          expect(told).not.toContain(publicKey)
        }
        if (kind !== 'made') told.push(publicKey)
        lines += 1
        if (lines === acts + 1) setTimeout(kill, later)
      })
    }
    const tally = await createRuntime({ location, insecurePlaintextKey: true, serve: false })
    expect(tally.status()).toMatchObject({ mode: 'ready', warnings: [] })
    expect(await keyInForce(tally)).toMatch(/^[0-9a-f]{64}$/)
    expect(await tally.verify()).toMatchObject({ ok: true })
    const keys = await tally.ledger.list('system/identities/')
    const { identity } = tally
    await tally.close()
    const identities = keys.map((key) => key.slice(key.lastIndexOf('/') + 1))
    expect(identities).toEqual(expect.arrayContaining(made))
    expect(made.length).toBeGreaterThan(0)
    const found = await inspectLocation(location)
    expect(found?.marker.identities).toEqual([identity, ...identities].sort())
    const [other] = identities as IdentityId[]
    if (other === undefined) throw new Error('none was made')
    const second = await createRuntime({ location, identity: other, serve: false })
    expect(await keyInForce(second)).toBe(other)
    await second.close()
  })
})
