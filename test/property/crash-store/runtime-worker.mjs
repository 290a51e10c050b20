/**
 * A process that runs one document after the other until it is killed. Plain JavaScript over the
 * built package, because it starts often. Its world is a file: what was done outside, a line each.
 * Prints
 * `done <run> <receipt>` for each run whose end was acknowledged, or the error that ended it.
 */
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Runs under way at once. */
const ABREAST = 3

export function workerBlocks(defineBlock, worldPath) {
  const done = (key) =>
    existsSync(worldPath) && readFileSync(worldPath, 'utf8').includes(`${key}\n`)
  const act = async ({ key, request }) => {
    appendFileSync(worldPath, `${JSON.stringify(request)} ${key}\n`)
    // Sometimes at once, sometimes while others continue.
    if (key < '8') await delay(1)
    return { done: true }
  }
  const count = (ctx, key) => {
    const n = (ctx.state.get(key) ?? 0) + 1
    ctx.state.set(key, n)
    return n
  }
  return [
    defineBlock({
      name: 'count',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx) => {
        count(ctx, 'total')
        return { n: count(ctx, `n/${ctx.runId}`) }
      }
    }),
    defineBlock({
      name: 'pay',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      run: (ctx) =>
        ctx.effect('pay', {
          request: { pays: ctx.unitId },
          perform: act,
          locate: ({ key }) =>
            done(key) ? { found: true, result: { done: true } } : { found: false, definite: true }
        })
    }),
    defineBlock({
      name: 'post',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: (ctx) =>
        Promise.all(
          ['a', 'b'].map((part) =>
            ctx.effect('post', {
              request: { part, posts: ctx.unitId },
              perform: (call) => (done(call.key) ? { done: true } : act(call))
            })
          )
        )
    })
  ]
}

export const workerDocument = {
  schema: 'tally-composite/1',
  name: 'work',
  version: '1.0.0',
  entry_point: 'count',
  nodes: {
    count: { block: 'count' },
    both: {
      composite: {
        atomic: true,
        entry_point: 'one',
        nodes: { one: { block: 'count' }, two: { block: 'count' } },
        transitions: { one: 'two' }
      }
    },
    pay: { block: 'pay' },
    post: { block: 'post' }
  },
  transitions: {
    count: [
      { condition: { cel: 'response.data.n >= 3' }, target: 'both' },
      { condition: 'default', target: 'count' }
    ],
    both: 'pay',
    pay: 'post'
  }
}

/** Counts of one run: three in the loop and two in the atomic composite. */
export const COUNTS_PER_RUN = 5

async function work(packageUrl, location, worldPath) {
  const { createRuntime, defineBlock } = await import(packageUrl)
  const runtime = await createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    blocks: workerBlocks(defineBlock, worldPath)
  })
  let next = 0
  const oneAfterTheOther = async () => {
    for (;;) {
      const id = `run-${next}`
      next += 1
      const { status, receiptHash } = await runtime.begin(workerDocument, { id, inputs: {} }).result
      writeSync(1, `${status} ${id} ${receiptHash ?? ''}\n`)
    }
  }
  await Promise.all(Array.from({ length: ABREAST }, oneAfterTheOther))
}

const [, script = '', packageUrl, location, worldPath] = process.argv
if (script.endsWith('runtime-worker.mjs')) {
  work(packageUrl, location, worldPath).catch((error) => {
    writeSync(1, `${error?.code ?? 'error'} ${error}\n`)
  })
}
