import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Client, connect } from '../../src/client/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { builtModule } from '../support/built.js'
import { cases } from '../support/effort.js'

const worker = fileURLToPath(new URL('hand-over/service.mjs', import.meta.url))
const library = builtModule('index.js')
const order = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'charge',
  nodes: { charge: { block: 'charge' } }
}

let directory: string
const children: ChildProcess[] = []
const location = () => join(directory, 'ledger')
const bank = () => join(directory, 'bank')

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-hand-over-'))
  await mkdir(location())
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(directory, { recursive: true, force: true })
})

/** Starts the next process of the service; resolves once it has the ledger. */
async function deploy(serial: number) {
  const given = { library, location: location(), bank: bank(), serial }
  const child = spawn(process.execPath, [worker, JSON.stringify(given)], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  children.push(child)
  const ended = once(child, 'exit')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  expect(JSON.parse(line)).toEqual({ serial, at: 'opened' })
  return { child, ended }
}

/** Sends orders until it is told to stop; gives the ids that were accepted. */
async function load(client: Client, name: string, isOver: () => boolean) {
  const accepted: string[] = []
  for (let at = 0; !isOver(); at += 1) {
    const id = `${name}-${at}`
    const started = await client.start(order, { id, inputs: { pauseMs: (at % 4) * 40 } })
    // Asked again of the next process, it may be there already.
    expect(started.id).toBe(id)
    accepted.push(id)
  }
  return accepted
}

describe('a rolling deploy', () => {
  it('L7, L13: loses nothing, does nothing twice, and its clients go on', async () => {
    const deploys = cases({ usual: 2, long: 4, soak: 60 })
    let last = await deploy(0)
    await using client = await connect({ location: location() })
    let isOver = false
    const loads = ['a', 'b', 'c'].map((name) => load(client, name, () => isOver))
    for (let serial = 1; serial <= deploys; serial += 1) {
      const next = await deploy(serial)
      expect(await last.ended).toEqual([0, null])
      last = next
      expect(await client.status()).toMatchObject({ process: next.child.pid })
    }
    isOver = true
    const accepted = (await Promise.all(loads)).flat()
    expect(accepted.length).toBeGreaterThan(deploys)
    for (const id of accepted) {
      expect(await client.result(id)).toMatchObject({ id, status: 'done' })
    }
    const charges = readFileSync(bank(), 'utf8').trim().split('\n')
    expect(new Set(charges).size).toBe(charges.length)
    expect(charges).toHaveLength(accepted.length)
    last.child.kill('SIGTERM')
    expect(await last.ended).toEqual([0, null])
    const tally = await createRuntime({ location: location(), serve: false })
    expect(await tally.verify({ reexecute: false })).toMatchObject({ ok: true })
    await tally.close()
    expect(existsSync(join(location(), 'owner.json'))).toBe(false)
  })

  it('waits for a holder that hands nothing over until it ends, and no longer than told', async () => {
    const plain = { location: location(), create: 'if-absent', insecurePlaintextKey: true } as const
    const script = `
      const { createRuntime } = await import(${JSON.stringify(library)})
      const tally = await createRuntime(${JSON.stringify(plain)})
      setInterval(() => undefined, 60_000)
      console.log('opened')
      process.once('SIGTERM', () => tally.close().then(() => process.exit(0)))`
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    children.push(holder)
    await once(createInterface(holder.stdout), 'line')
    const early = createRuntime({ ...plain, handOver: { waitMs: 0 } })
    await expect(early).rejects.toMatchObject({ code: 'ledger.locked' })
    const patient = createRuntime({ ...plain, handOver: { waitMs: 60_000 } })
    holder.kill('SIGTERM')
    const tally = await patient
    expect(tally.status().mode).not.toBe('closed')
    await tally.close()
  })
})
