import { threeOfThree, twoOfThree } from './approvers.mjs'
import { functionsOf } from './functions.mjs'

/**
 * The code that the golden ledgers were made with: what is registered when one is made, resumed or
 * verified. `lib` is a build of tallystick, so that any version can be given the same code.
 */

/** Everything that the documents name. `world.hangs`: names of effects that never answer. */
export function codeOf(lib, world = {}) {
  const blocks = [...stateBlocks(lib), ...effectBlocks(lib, world), ...waitingBlocks(lib)]
  return {
    blocks,
    workflows: functionsOf(lib, world, blocks),
    providers: [...undoing(world), ...chains(lib)],
    conditions: { isLarge: (response) => Number(response.data?.n ?? 0) >= 2 },
    repairs: { halve: (request) => ({ ...request, payload: { amount: 1 } }) },
    agents: agents(lib, world),
    workflow: workflow(world),
    obligations: obligations(world)
  }
}

/** More have to sign what is done than the policies of documents ask for. */
function obligations({ isObliged }) {
  if (isObliged !== true) return undefined
  const confirm = { approvers: threeOfThree }
  return { effects: { 'agent.tool.send': { confirm }, 'chain.broadcast': { confirm } } }
}

function block(lib, name, run, more = {}) {
  return lib.defineBlock({ name, version: '1.0.0', sideEffects: 'none', run, ...more })
}

function stateBlocks(lib) {
  const count = (ctx) => {
    const n = (ctx.state.get('n') ?? 0) + 1
    ctx.state.set('n', n)
    return { n, at: ctx.now(), random: ctx.random(), uuid: ctx.uuid() }
  }
  const note = async (ctx) => {
    const before = await ctx.state.list('note/')
    ctx.state.set(`note/${before.length}`, ctx.unitId)
    return { notes: before.length + 1 }
  }
  const big = (ctx, { length = 0 }) => {
    const text = 'abcdefghij'.repeat(length / 10)
    ctx.state.set(`big/${length}`, text)
    return { text }
  }
  const price = (ctx, { price: given }) => {
    ctx.state.set('price', given)
    return { given }
  }
  const takes = async (ctx) => {
    const first = await ctx.signal('item', undefined, { timeoutMs: 86_400_000 })
    const second = await ctx.signal('item')
    if (ctx.attempt === 1) ctx.fail('once', {})
    return { first: first ?? null, second }
  }
  const tags = async (ctx) => {
    await ctx.setTags(['new', 'customer:42'])
    await ctx.signal('item')
    await ctx.setTags(['done'])
    return null
  }
  return [
    block(lib, 'tags', tags),
    block(lib, 'count', count, { intents: ['count.up'] }),
    block(lib, 'note', note),
    block(lib, 'big', big),
    block(lib, 'price', price),
    block(lib, 'takes', takes),
    block(lib, 'secret', (ctx, input) => ({ told: input }), {
      private: { input: true, output: true }
    }),
    block(lib, 'boom', (ctx) => ctx.fail('boom', { attempt: ctx.attempt }), {
      intents: ['boom.now']
    }),
    block(lib, 'picky', (ctx, { amount = 9 }) =>
      amount > 1 ? ctx.fail('too_much', { amount }) : { amount }
    )
  ]
}

function effectBlocks(lib, world) {
  const answer = (call) =>
    world.hangs?.(call) === true ? new Promise(() => undefined) : { done: call.key.length }
  const unsure = (call) => ({ found: false, definite: call.key.length > 0 })
  const acting = (name, more = {}) =>
    block(
      lib,
      name,
      (ctx) => ctx.effect(name, { request: { of: ctx.unitId }, perform: answer, ...more.effect }),
      { sideEffects: 'non_idempotent', ...more.block }
    )
  const reserve = (name, compensate) =>
    block(
      lib,
      name,
      async (ctx) => {
        const n = (ctx.state.get('reserved') ?? 0) + 1
        const done = await ctx.effect('reserve', {
          request: { reserves: ctx.unitId },
          perform: answer,
          locate: unsure
        })
        ctx.state.set('reserved', n)
        return { n, done }
      },
      { sideEffects: 'non_idempotent', compensate }
    )
  const release = ({ request, response }) => ({
    effect: 'release',
    request: { releases: request, was: response },
    sideEffects: 'idempotent'
  })
  const flaky = async (ctx) => {
    const paid = await ctx.effect('post', { request: { flaky: ctx.unitId }, perform: answer })
    await ctx.effect('look', {
      request: 'flaky',
      sideEffects: 'none',
      perform: (call) => {
        world.looked?.()
        if (ctx.attempt < 3) throw new lib.EffectFailure('not_yet', { definite: true })
        return answer(call)
      }
    })
    return { paid, attempt: ctx.attempt }
  }
  return [
    acting('look', { block: { sideEffects: 'none' } }),
    acting('post', { block: { sideEffects: 'idempotent', intents: ['post.it'] } }),
    acting('pay', { effect: { locate: unsure } }),
    acting('blind'),
    acting('mail', { effect: { locate: unsure } }),
    acting('secret-post', {
      block: { sideEffects: 'idempotent', private: { input: true, output: true } }
    }),
    reserve('reserve', release),
    reserve('reserve-by-name', 'cancel'),
    reserve('reserve-stubborn', 'stubborn'),
    block(lib, 'flaky', flaky, { sideEffects: 'idempotent' })
  ]
}

function waitingBlocks(lib) {
  const ask = async (ctx) => {
    const { action, value } = await ctx.wait({ reason: 'external', request: 'what?' })
    return { action, value }
  }
  const askApprovers = async (ctx) => {
    const asked = { reason: 'external', request: 'how much?', approvers: twoOfThree }
    const { action, value } = await ctx.wait(asked)
    return { action, value }
  }
  const nap = async (ctx, input) => {
    await ctx.sleep(input?.ms ?? 5)
    return { slept: true }
  }
  const mixed = async (ctx) => {
    const seen = await ctx.effect('look', {
      request: 'first',
      sideEffects: 'none',
      perform: () => ({ seen: true })
    })
    const keys = await ctx.state.list('note/')
    const [answer] = await Promise.all([
      ctx.wait({ reason: 'confirmation', request: { keys: keys.length } }),
      ctx.sleep(2)
    ])
    ctx.state.set('mixed', answer.action)
    return { seen, answer: answer.action }
  }
  // Asks on a price that others may change while it waits.
  const quote = async (ctx) => {
    const price = ctx.state.get('price') ?? 0
    const { value } = await ctx.wait({ reason: 'external', request: { price } })
    return { price, value }
  }
  // Acts and asks; on another price it asks for neither any more.
  const drops = (name, other) =>
    block(
      lib,
      name,
      async (ctx) => {
        const price = ctx.state.get('price') ?? 0
        const performed = { sideEffects: 'none', perform: () => price }
        await ctx.effect('look', { request: { price }, ...performed })
        if (price > 0) return other(ctx)
        await ctx.effect('post', { request: name, perform: () => ({ posted: true }) })
        return ctx.wait({ reason: 'external', request: 'first' })
      },
      { sideEffects: 'idempotent' }
    )
  return [
    drops('drop-and-fail', (ctx) => ctx.fail('changed')),
    drops('drop-and-ask', (ctx) => ctx.wait({ reason: 'external', request: 'second' })),
    block(lib, 'ask', ask, { intents: ['ask.it'] }),
    block(lib, 'ask-approvers', askApprovers),
    block(lib, 'nap', nap),
    block(lib, 'mixed', mixed, { sideEffects: 'idempotent' }),
    block(lib, 'quote', quote)
  ]
}

function undoing(world) {
  const answer = (call) =>
    world.hangs?.(call) === true ? new Promise(() => undefined) : { undone: true }
  return [
    { name: 'release', perform: answer },
    { name: 'cancel', perform: answer, locate: () => ({ found: false, definite: true }) },
    {
      name: 'stubborn',
      perform: () => {
        throw new Error('too late')
      },
      locate: () => ({ found: false, definite: true })
    }
  ]
}

/** Two chains in memory: a transfer, its message, and its arrival on the other side. */
function chains(lib) {
  let message
  const nameOf = (execution) => execution.abi?.name ?? execution.instruction ?? ''
  const evm = new lib.FakeChain({
    id: 'eip155:1',
    read: (execution) =>
      nameOf(execution) === 'allowance' ? { allowance: '0' } : { balance: '7' },
    write: (execution) => {
      if (nameOf(execution) !== 'send') return { ok: true, outputs: {} }
      message = 'm-1'
      return { ok: true, outputs: { message_id: message } }
    }
  })
  const solana = new lib.FakeChain({
    id: 'solana:5eyk...',
    read: ({ params }) => ({ arrived: Array.isArray(params) && params[0] === message })
  })
  const terms = { pollMs: 5 }
  return lib.chainProviders([
    lib.fakeExecutor({ chains: [evm], accounts: { default: `0x${'1'.repeat(40)}` }, terms }),
    lib.fakeExecutor({ chains: [solana], accounts: { default: 'So1' }, terms })
  ])
}

function workflow({ protocols, asks }) {
  if (protocols === undefined) return undefined
  if (asks === true) return { protocols }
  const policy = { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
  return { protocols, writes: 'broadcast', policy }
}

/** An agent that calls the tool its prompt names, and says what came of it. */
function agents(lib, world) {
  const usage = { inputTokens: 60, outputTokens: 40 }
  const script = ({ messages, prompt }) => {
    const [last] = messages.slice(-1)
    if (/as a sum/.test(prompt)) {
      // What is wrong with the first answer is told to the agent in the words of a version.
      if (last === undefined) return { text: '', structured: { sum: '12345678901234567890' }, usage }
      if (last.role === 'tool') return { text: '', structured: { sum: 5 }, usage }
    }
    if (last?.role === 'tool') return { text: `got ${JSON.stringify(last.result)}`, usage }
    const tool = /call (\w+)/.exec(prompt)?.[1]
    if (tool === undefined) return { text: `done: ${prompt}`, usage }
    return { text: '', toolCalls: [{ id: 'call-1', name: tool, arguments: { to: 'x' } }], usage }
  }
  const adapters = new lib.AdapterRegistry()
  adapters.registerAdapter('fake', () => lib.fakeAdapter({ script }))
  const tool = (name, sideEffects) =>
    lib.defineTool({
      name,
      description: name,
      parameters: { type: 'object' },
      sideEffects,
      perform: (call) =>
        world.hangs?.(call) === true ? new Promise(() => undefined) : { did: name }
    })
  return {
    adapters,
    environment: {},
    tools: [tool('look', 'none'), tool('send', 'idempotent')]
  }
}
