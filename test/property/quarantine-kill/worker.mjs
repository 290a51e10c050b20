/**
 * A process that starts two runs, one of which comes out otherwise when it is executed again, and
 * ends both in its later lives. Plain JavaScript over the built package, because it starts often.
 * Its world is a file: what was done outside, a line each. Prints a line for each thing it is told,
 * and before it how often the run in quarantine has acted: who reads it may be late.
 */
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'

const [, script = '', packageUrl, location, worldPath, ending] = process.argv

export const HONEST = 'honest'
export const IMPURE = 'impure'

export function workerBlocks(defineBlock, worldPath) {
  const isDone = (key) =>
    existsSync(worldPath) && readFileSync(worldPath, 'utf8').includes(` ${key}\n`)
  return [
    defineBlock({
      name: 'stamp',
      version: '1.0.0',
      sideEffects: 'none',
      // No part of its input: another process has another time.
      run: () => ({ at: `${Date.now()} ${process.hrtime.bigint()}` })
    }),
    defineBlock({ name: 'pure', version: '1.0.0', sideEffects: 'none', run: () => ({ at: 0 }) }),
    defineBlock({
      name: 'ask',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => (await ctx.wait({ reason: 'external', request: 'sure?' })).value
    }),
    defineBlock({
      name: 'pay',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      run: (ctx) =>
        ctx.effect('pay', {
          request: { run: ctx.runId },
          perform: ({ key, request }) => {
            appendFileSync(worldPath, `${request.run} ${key}\n`)
            return { paid: true }
          },
          locate: ({ key }) =>
            isDone(key) ? { found: true, result: { paid: true } } : { found: false, definite: true }
        })
    })
  ]
}

function documentOf(first) {
  return {
    schema: 'tally-composite/1',
    name: first,
    version: '1.0.0',
    entry_point: 'first',
    nodes: { first: { block: first }, ask: { block: 'ask' }, pay: { block: 'pay' } },
    transitions: { first: 'ask', ask: 'pay' }
  }
}

function say(...words) {
  const world = existsSync(worldPath) ? readFileSync(worldPath, 'utf8') : ''
  const acts = world.split('\n').filter((line) => line.startsWith(`${IMPURE} `))
  writeSync(1, `${acts.length} ${words.join(' ')}\n`)
}

/** Begins a run, or takes it as it is, until it waits; false when it has ended. */
async function waits(tally, id, first) {
  for await (const { type } of tally.begin(documentOf(first), { id, inputs: {} })) {
    if (type === 'run.parked') return true
  }
  return false
}

async function answer(tally, id) {
  const handle = await tally.resume(id)
  const over = handle.result.then(() => true)
  for (;;) {
    const [wait] = await handle.waits()
    if (wait !== undefined) {
      await handle.resume(wait.token, { digest: wait.digest, value: 'yes' })
      break
    }
    const next = new Promise((resolve) => setImmediate(resolve, false))
    if (await Promise.race([over, next])) break
  }
  const { status } = await handle.result
  say('ended', id, status)
}

const codeOf = (error) => error?.code ?? String(error)

/** Tries every way of having something of a quarantined run performed. */
async function refused(tally) {
  const resumed = await tally.resume(IMPURE).then(() => 'taken', codeOf)
  const again = tally.begin(documentOf('stamp'), { id: IMPURE, inputs: {} }).result
  const started = await again.then(() => 'taken', codeOf)
  const handle = await tally.attach(IMPURE)
  const [wait] = await handle.waits()
  const given = wait && { digest: wait.digest, value: 'yes' }
  const answered = wait && (await handle.resume(wait.token, given).then(() => 'taken', codeOf))
  say('refused', resumed, started, answered ?? resumed)
}

async function work() {
  const { createRuntime, defineBlock } = await import(packageUrl)
  const tally = await createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    resume: true,
    serve: false,
    blocks: workerBlocks(defineBlock, worldPath)
  })
  const { mode, quarantined } = tally.status()
  say('open', mode, quarantined.map(({ run }) => run).join())
  const isMarked = tally.ledger.read(`system/quarantine/${IMPURE}`) !== undefined
  if (!isMarked) {
    if (await waits(tally, HONEST, 'pure')) say('parked', HONEST)
    if (await waits(tally, IMPURE, 'stamp')) say('parked', IMPURE)
    setInterval(() => undefined, 1_000)
    return
  }
  if (quarantined.length > 0) await refused(tally)
  await answer(tally, HONEST)
  if (ending === 'cancel') {
    const handle = await tally.attach(IMPURE)
    await handle.cancel('it came out otherwise')
    say('ended', IMPURE, (await handle.result).status)
  } else {
    say('releasing', IMPURE)
    if (quarantined.length > 0) await tally.release(IMPURE)
    say('released', IMPURE)
    await answer(tally, IMPURE)
  }
  say('over')
  setInterval(() => undefined, 1_000)
}

if (script.endsWith('quarantine-kill/worker.mjs')) {
  work().catch((error) => say('error', codeOf(error), error))
}
