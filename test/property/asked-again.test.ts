import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenWait } from '../../src/block/index.js'
import { defineBlock, EffectFailure } from '../../src/code/index.js'
import type { Json, RunId } from '../../src/core/index.js'
import { createRuntime, type RunHandle, type WiredRuntime } from '../../src/runtime/index.js'
import { builtModule } from '../support/built.js'
import { cases } from '../support/effort.js'
import { Machine, until } from '../support/lives.js'

type Outcome = 'lost' | 'dies' | 'fails' | 'parks' | 'done'
type Answer = { readonly token: string; readonly digest: string; readonly action: 'retry' }

const RUNS = cases({ usual: 8, long: 22, soak: 500 })

const document: Json = {
  schema: 'tally-composite/1',
  name: 'doubtful',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'pay', on_error: 'ask' } }
}

/** Each sending has the next outcome; when there is none left, it succeeds. */
function paying(outcomes: readonly Outcome[], sent: Outcome[]) {
  return defineBlock({
    name: 'pay',
    version: '1.0.0',
    sideEffects: 'non_idempotent',
    run: (ctx) =>
      ctx.effect('pay', {
        request: { amount: 1 },
        perform: () => {
          const outcome = outcomes[sent.length] ?? 'done'
          sent.push(outcome)
          if (outcome === 'lost' || outcome === 'parks') throw new EffectFailure('timeout')
          if (outcome === 'fails') throw new EffectFailure('refused', { definite: true })
          return outcome === 'dies' ? new Promise<Json>(() => undefined) : { paid: true }
        }
      })
  })
}

/** The run's next question, or undefined when it has ended. */
async function question(
  runtime: WiredRuntime,
  run: RunHandle,
  answered: readonly Answer[]
): Promise<OpenWait | undefined> {
  let wait: OpenWait | undefined
  const isOver = () => runtime.ledger.run('r' as RunId)?.status === 'done'
  await until(async () => {
    ;[wait] = await run.waits()
    const last = answered.at(-1)
    // What was answered last may be shown until the answer has had its turn.
    return isOver() || (wait !== undefined && (last === undefined || runtimeMoved(wait, last)))
  })
  return isOver() ? undefined : wait
}

function runtimeMoved(wait: OpenWait, last: Answer): boolean {
  return wait.token !== last.token
}

async function play(outcomes: readonly Outcome[]): Promise<void> {
  const machine = new Machine()
  const sent: Outcome[] = []
  const blocks = [paying(outcomes, sent)]
  let runtime = await machine.open({ blocks })
  let run: RunHandle = runtime.begin(document, { id: 'r', inputs: {} })
  const answered: Answer[] = []
  for (;;) {
    await until(() => sent.at(-1) !== undefined)
    if (sent.length > answered.length && sent.at(-1) === 'dies') {
      runtime.life.isDead = true
      machine.disk.crash('power')
      runtime = await machine.open({ blocks })
      run = await runtime.resume('r')
    }
    const wait = await question(runtime, run, answered)
    if (wait === undefined) break
    expect(answered.map(({ token }) => token)).not.toContain(wait.token)
    if (sent.at(-1) === 'parks') {
      await until(() => runtime.ledger.run('r' as RunId)?.status === 'waiting')
      await runtime.close()
      runtime = await machine.open({ blocks })
      run = await runtime.resume('r')
    }
    for (const { token, ...answer } of answered) {
      expect(await run.resume(token, answer)).toMatchObject({ accepted: false })
    }
    const { token, digest } = wait
    const before = sent.length
    answered.push({ token, digest, action: 'retry' })
    expect(await run.resume(token, { digest, action: 'retry' })).toEqual({ accepted: true })
    await until(() => sent.length > before)
  }
  expect(sent).toHaveLength(answered.length + 1)
  expect(await runtime.replay()).toMatchObject({ ok: true })
  await runtime.close()
}

describe('a question that is asked again', () => {
  it('W7: is ended by no message that has ended an earlier one, however it was lost', async () => {
    const outcome = fc.constantFrom<Outcome>('lost', 'dies', 'fails', 'parks')
    await fc.assert(fc.asyncProperty(fc.array(outcome, { maxLength: 5 }), play), { numRuns: RUNS })
  })

  it('W7: keeps its first token and digest, and has its number from the second on', async () => {
    const sent: Outcome[] = []
    const machine = new Machine()
    const runtime = await machine.open({ blocks: [paying(['lost', 'lost'], sent)] })
    const run = runtime.begin(document, { id: 'r', inputs: {} })
    const first = await question(runtime, run, [])
    expect(first).not.toHaveProperty('asking')
    const { token = '', digest = '' } = first ?? {}
    await run.resume(token, { digest, action: 'retry' })
    const second = await question(runtime, run, [{ token, digest, action: 'retry' }])
    expect(second).toMatchObject({ asking: 2 })
    await run.resume(second?.token ?? '', { digest: second?.digest ?? '', action: 'retry' })
    await run.result
    expect(await runtime.replay()).toMatchObject({ ok: true })
    await runtime.close()
  })
})

describe('an effect that kills its process each time it is sent', () => {
  let directory = ''

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'asked-again-'))
  })

  afterAll(() => rm(directory, { recursive: true, force: true }))

  it('W7: is sent once for each answer, whatever old answers are given again', async () => {
    const library = builtModule('index.js')
    const [location, file] = [join(directory, 'ledger'), join(directory, 'sent')]
    const used: Answer[] = []
    const lives = 4
    for (let life = 0; life <= lives; life += 1) {
      const printed = await live({ library, location, sent: file, used })
      if (life === 0) continue
      const { token, digest, asking, again } = JSON.parse(printed)
      expect(asking).toBe(life === 1 ? undefined : life)
      expect(again).toEqual(used.map(() => ({ accepted: false, reason: 'unknown_token' })))
      used.push({ token, digest, action: 'retry' })
      expect(readFileSync(file, 'utf8')).toBe('sent\n'.repeat(life + 1))
    }
    const pay = paying([], [])
    const tally = await createRuntime({ location, insecurePlaintextKey: true, blocks: [pay] })
    expect(new Set(used.map(({ token }) => token)).size).toBe(lives)
    expect(await tally.replay()).toMatchObject({ ok: true })
    await tally.close()
  }, 60_000)
})

/** What a process prints until it dies. */
async function live(given: object): Promise<string> {
  const worker = new URL('./asked-again/worker.mjs', import.meta.url).pathname
  const words = [worker, JSON.stringify(given)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += String(chunk)
  })
  await new Promise((resolve) => child.once('close', resolve))
  return printed
}
