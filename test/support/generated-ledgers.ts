import fc from 'fast-check'
import { defineBlock, EffectFailure } from '../../src/code/index.js'
import { type Json, systemRandom } from '../../src/core/index.js'
import { generateIdentity, type IdentityKeys } from '../../src/identity/index.js'
import {
  createRuntime,
  type Registrations,
  type RunHandle,
  type WiredRuntime
} from '../../src/runtime/index.js'

/** Small ledgers with every kind of record, from short programs that are drawn. */

const bodies = ['', 'é', '\u{1f600}\u2028"\\\u0001', 'x'.repeat(1_100), 'ü'.repeat(70_000)]

function pure(name: string, run: Parameters<typeof defineBlock>[0]['run']) {
  return defineBlock({ name, version: '1.0.0', sideEffects: 'none', run })
}

export const programCode: Registrations = {
  blocks: [
    pure('count', (ctx, input) => {
      const { key, step } = input as { key: string; step: number }
      const sum = (ctx.state.get<number>(key) ?? 0) + step
      ctx.state.set(key, sum)
      return { sum, half: sum / 3, drawn: ctx.random(), id: ctx.uuid() }
    }),
    pure('keep', async (ctx, input) => {
      const { body } = input as { body: string }
      ctx.state.set(`bodies/${body.length}\uffff`, { body })
      return { body, kept: await ctx.state.list('bodies/') }
    }),
    pure('drop', async (ctx) => {
      const keys = (await ctx.state.list('bodies/')) as string[]
      for (const key of keys) ctx.state.delete(key)
      return keys.length
    }),
    pure('fail', (ctx) => ctx.fail('no_luck', { evidenceHash: 'x', tries: ctx.attempt })),
    pure('nap', async (ctx) => {
      await ctx.sleep(1)
      return ctx.now()
    }),
    pure('ask', async (ctx) => {
      const { action, value } = await ctx.wait({ reason: 'external', request: { what: 'it' } })
      return { action, value }
    }),
    defineBlock({
      name: 'send',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      intents: ['letter.send'],
      run: (ctx) => ctx.effect('post', { request: { to: 'Ada' } })
    }),
    defineBlock({
      name: 'pay',
      version: '1.0.0',
      sideEffects: 'idempotent',
      private: { input: true, output: true },
      capabilities: ['bank.pay'],
      intents: ['money.pay'],
      compensate: () => ({ effect: 'bank.back', request: null, sideEffects: 'idempotent' }),
      run: (ctx, input) => ctx.effect('bank.pay', { request: input as Json })
    })
  ],
  providers: [
    {
      name: 'bank.pay',
      perform: ({ request }) => {
        if (JSON.stringify(request).includes('refuse')) {
          throw new EffectFailure('refused', { definite: true })
        }
        return { paid: request as Json }
      }
    },
    { name: 'bank.back', perform: () => null },
    {
      name: 'post',
      perform: () => {
        throw new Error('lost')
      }
    }
  ]
}

function graph(names: readonly string[], inputs: Json, more: object = {}): Json {
  const nodes = names.map((block, index) => [`n${index}`, { block, input: { lit: inputs } }])
  const transitions = names.slice(1).map((_, index) => [`n${index}`, `n${index + 1}`])
  const graphs = { nodes: Object.fromEntries(nodes), transitions: Object.fromEntries(transitions) }
  const header = { schema: 'tally-composite/1', name: 'drawn', version: '1.0.0', entry_point: 'n0' }
  return { ...header, ...graphs, ...more } as Json
}

type Act = (tally: WiredRuntime) => Promise<unknown>

const done =
  (document: Json): Act =>
  (tally) =>
    tally.begin(document).result

const asked =
  (then: 'answer' | 'cancel' | 'leave'): Act =>
  async (tally) => {
    const run = tally.begin(graph(['ask'], null))
    for await (const event of run) {
      if (then === 'leave' && event.type === 'run.parked') return
      if (event.type !== 'waiting' || then === 'leave') continue
      if (then === 'cancel') await run.cancel('enough')
      else await run.resume(event.token, { digest: event.digest, value: [1, 'two'] })
    }
    await run.result
  }

/** An effect whose outcome is unknown each time: the same question is asked again. */
const askedAgain =
  (times: number, start: (tally: WiredRuntime) => Promise<RunHandle>): Act =>
  async (tally) => {
    const run = await start(tally)
    let asked = 0
    for await (const event of run) {
      if (event.type !== 'waiting') continue
      asked += 1
      const action = asked < times ? 'retry' : 'abort'
      await run.resume(event.token, { digest: event.digest, action })
    }
    await run.result
  }

const sendLetter = async (tally: WiredRuntime) => tally.begin(graph(['send'], null))

async function intendLetter(tally: WiredRuntime): Promise<RunHandle> {
  const { id } = await tally.intent({ action: 'letter.send', payload: {} })
  return tally.attach(id)
}

/** One of each, for a ledger that is tampered with. */
export const oneOfEach: readonly Act[] = [
  done(graph(['count', 'count'], { key: 'a', step: 1 })),
  done(graph(['keep'], { body: 'x'.repeat(1_100) })),
  done(graph(['keep'], { body: 'y'.repeat(70_000) })),
  done(graph(['pay'], { what: 'yes' })),
  done(graph(['pay', 'fail'], { what: 'yes' }, { atomic: true })),
  done(graph(['count', 'fail'], { key: 'a', step: 1 })),
  (tally) => tally.intent({ action: 'money.pay', payload: { what: 'yes' }, raw: 'pay it' }),
  askedAgain(2, sendLetter),
  asked('answer'),
  asked('leave')
]

const act: fc.Arbitrary<Act> = fc.oneof(
  fc
    .record({ key: fc.constantFrom('a', 'b/c', '\u{10ffff}'), step: fc.double({ noNaN: true }) })
    .map(({ key, step }) => ({ key, step: Number.isInteger(step) ? 1 : step / 1e300 }))
    .map((input) => done(graph(['count', 'count'], input))),
  fc.constantFrom(...bodies).map((body) => done(graph(['keep', 'nap'], { body }))),
  fc.constant(done(graph(['drop'], null))),
  fc.constant(done(graph(['count', 'fail'], { key: 'a', step: 1 }))),
  fc.constantFrom('yes', 'refuse').map((what) => done(graph(['pay'], { what }))),
  fc
    .constantFrom('count', 'fail', 'nap')
    .map((last) => done(graph(['pay', last], { key: 'a', step: 2 }, { atomic: true }))),
  fc.constantFrom('yes', 'refuse').map(
    (what): Act =>
      (tally) =>
        tally.intent({ action: 'money.pay', payload: { what }, raw: 'pay it' })
  ),
  fc.constant<Act>((tally) => tally.intent({ action: 'nobody.does', payload: {} })),
  fc.constantFrom('answer' as const, 'cancel' as const, 'leave' as const).map(asked),
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom(sendLetter, intendLetter))
    .map(([times, start]) => askedAgain(times, start))
)

/** What a ledger is made of: a few acts. */
export const program = fc.array(act, { maxLength: 5 })

/** Makes a ledger in memory, and writes its snapshot. */
export async function exported(
  acts: readonly Act[],
  path: string,
  keys: IdentityKeys = generateIdentity(systemRandom)
): Promise<void> {
  const tally = await createRuntime({ location: 'memory:', keys, ...programCode })
  try {
    for (const each of acts) await each(tally)
    await tally.export({ path })
  } finally {
    await tally.close()
  }
}
