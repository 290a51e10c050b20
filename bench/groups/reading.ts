import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { elapsedMs, sha256Hex } from '../../src/core/index.js'
import { verifyMany } from '../../src/identity/index.js'
import type { WiredRuntime } from '../../src/runtime/index.js'
import { Engine } from '../engine.js'
import { median, Scratch } from '../measure.js'
import { against, type Group, type Row } from '../row.js'

const WIDTH = 64
const RECEIPTS_OF_WORKFLOW = 11
const SIGNATURES_AT_ONCE = 128
const ROUNDS = 3

/** Reading a ledger: verifying it, doing it again, opening it. */
export const reading: Group = {
  rows: ['verify', 'replay', 'open', 'open.processor-time', 'open.memory', 'floor.verify'],
  async measure({ full }) {
    const receipts = full ? 100_000 : 20_000
    const scratch = new Scratch()
    const path = scratch.directory()
    const engine = await Engine.open({ path, durability: 'output', stateKeys: 0 })
    await engine.workflows(Math.ceil(receipts / RECEIPTS_OF_WORKFLOW), WIDTH)
    const rows = await checked(engine.runtime)
    await engine.close()
    rows.push(...opened(path, receipts))
    scratch.remove()
    return rows
  }
}

async function checked(runtime: WiredRuntime): Promise<Row[]> {
  const floors: number[] = []
  const verified: number[] = []
  const replayed: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    floors.push(await perSecond(() => hashAndVerify(runtime)))
    verified.push(await perSecond(() => verify(runtime, false)))
    replayed.push(await perSecond(() => verify(runtime, true)))
  }
  const floor = median(floors)
  return [
    against('verify', median(verified), { floor, target: 0.75, unit: 'receipts/s' }),
    {
      name: 'replay',
      value: median(replayed),
      unit: 'receipts/s',
      floor: null,
      ratio: null,
      target: 6_000,
      better: 'higher'
    },
    {
      name: 'floor.verify',
      value: floor,
      unit: 'receipts/s',
      floor: null,
      ratio: null,
      target: null,
      better: 'higher'
    }
  ]
}

async function perSecond(work: () => Promise<number>): Promise<number> {
  const begin = elapsedMs()
  const count = await work()
  return (count * 1_000) / (elapsedMs() - begin)
}

/**
 * Signatures, links, roots, write sets, journals, the log and the head; with `reexecute` the code
 * too.
 */
async function verify(runtime: WiredRuntime, reexecute: boolean): Promise<number> {
  const report = await runtime.verify({ reexecute })
  if (!report.ok) throw new Error(`the ledger does not verify: ${JSON.stringify(report.failure)}`)
  return report.receipts
}

/** The floor: reading, hashing and signatures in the thread pool, and nothing of what they say. */
async function hashAndVerify(runtime: WiredRuntime): Promise<number> {
  const publicKey = Buffer.from(runtime.identity, 'hex')
  let count = 0
  let batch: Parameters<typeof verifyMany>[0][number][] = []
  let before: Promise<readonly boolean[]> = Promise.resolve([])
  for await (const { text, receipt } of runtime.receipts()) {
    sha256Hex(text)
    batch.push({
      signature: Buffer.from(receipt.signature, 'hex'),
      message: Buffer.from(receipt.receiptHash, 'hex'),
      publicKey
    })
    count += 1
    if (batch.length < SIGNATURES_AT_ONCE) continue
    await before
    before = verifyMany(batch)
    batch = []
  }
  await before
  await verifyMany(batch)
  return count
}

/** In a process of its own: its memory and its time hold nothing else. */
function opened(path: string, receipts: number): Row[] {
  const child = fileURLToPath(new URL('../child/open.js', import.meta.url))
  const results = Array.from({ length: ROUNDS }, () => {
    const text = execFileSync(process.execPath, [child, path], { encoding: 'utf8' })
    return JSON.parse(text) as Readonly<Record<'ms' | 'processorMs' | 'memoryMb', number>>
  })
  // The targets are for 100,000 receipts.
  const share = receipts / 100_000
  const row = (name: string, value: number, unit: string, target: number | null): Row => {
    return { name, value, unit, floor: null, ratio: null, target, better: 'lower' }
  }
  const processorMs = median(results.map((result) => result.processorMs))
  return [
    row('open', median(results.map(({ ms }) => ms)) / share, 'ms/100k', 1_000),
    row('open.processor-time', processorMs / share, 'ms/100k', null),
    row('open.memory', Math.max(...results.map(({ memoryMb }) => memoryMb)), 'MB', 300)
  ]
}
