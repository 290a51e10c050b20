import {
  type Block,
  type BlockContext,
  defineBlock,
  defineWorkflow,
  type Workflow
} from '../../src/code/index.js'
import type { Json, JsonObject, RunId } from '../../src/core/index.js'
import type { Registrations, RunHandle, WiredRuntime } from '../../src/runtime/index.js'
import { compensatedBlocks, compensationDocuments } from './compensation-scenario.js'
import { Machine, settleDown, type World } from './lives.js'
import { agreeable, type Decide, driveRun, reply, runScenario, SCENARIO_RUN } from './run-to-end.js'
import { scenarioDocuments } from './scenario-documents.js'

/** One line of a recorded journal, and the receipt that its entry completed. */
export interface RecordedLine {
  readonly text: string
  readonly receiptHash: string | null
}

/** A run whose journal is recorded once and folded for ever. */
export interface JournalScene {
  readonly title: string
  readonly play: () => Promise<readonly RecordedLine[]>
}

/** Code of every scene; recorded journals name these blocks with their versions. */
export function sceneRegistrations(world: World): Registrations {
  const { blocks = [], providers = [] } = compensatedBlocks(world)
  return {
    blocks: [...blocks, ...sceneBlocks(world)],
    workflows: [inCode(world)],
    providers
  }
}

/** Steps at once, a part that is all or nothing and one that is not, a signal, and a failed end. */
function inCode(world: World): Workflow {
  const posts = defineBlock({
    name: 'posts',
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: (ctx) => ctx.effect('post', { request: 'it', perform: (call) => world.actOnce(call) })
  })
  const adds = defineBlock({
    name: 'adds',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx, input) => {
      ctx.state.set('n', (ctx.state.get<number>('n') ?? 0) + 1)
      return input === 'too much' ? ctx.fail('too_much') : (ctx.state.get('n') ?? null)
    }
  })
  return defineWorkflow({
    name: 'in-code',
    version: '1.0.0',
    blocks: [posts, adds],
    run: async (ctx, input) => {
      const first = await ctx.all([ctx.step('post', posts, null), ctx.step('add', adds, null)])
      const kept = await ctx.atomic('both', async (scope) => {
        await scope.step('one', adds, null)
        return scope.step('two', adds, input)
      })
      await ctx.publish('kept', kept)
      return { first, kept, item: await ctx.signal('item') }
    }
  })
}

function sceneBlocks(world: World): readonly Block[] {
  const asksTwice = async (ctx: BlockContext) => {
    const seen = ctx.state.get<number>('n') ?? 0
    await ctx.wait({ reason: 'external', request: { first: seen } })
    await ctx.wait({ reason: 'external', request: { second: seen } })
    return { seen }
  }
  const takes = async (ctx: BlockContext) => {
    const late = await ctx.signal('item', undefined, { timeoutMs: 86_400_000 })
    return [late ?? null, await ctx.signal('item')]
  }
  const tags = async (ctx: BlockContext) => {
    await ctx.setTags(['new', 'customer:42'])
    await ctx.signal('go')
    await ctx.setTags(['done'])
    return null
  }
  const asksParity = async (ctx: BlockContext) => {
    const isOdd = (ctx.state.get<number>('n') ?? 0) % 2 === 1
    const { value } = await ctx.wait({ reason: 'external', request: { isOdd } })
    return value
  }
  const sendsParity = async (ctx: BlockContext) => {
    const isOdd = (ctx.state.get<number>('n') ?? 0) % 2 === 1
    await ctx.effect('look', { request: { isOdd }, sideEffects: 'none', perform: () => null })
    if (!isOdd)
      await ctx.effect('post', { request: 'even', perform: (call) => world.actOnce(call) })
    const { value } = await ctx.wait({ reason: 'external', request: { isOdd } })
    return value
  }
  return [
    defineBlock({
      name: 'send-parity',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: sendsParity
    }),
    defineBlock({ name: 'takes', version: '1.0.0', sideEffects: 'none', run: takes }),
    defineBlock({ name: 'tags', version: '1.0.0', sideEffects: 'none', run: tags }),
    defineBlock({ name: 'ask-parity', version: '1.0.0', sideEffects: 'none', run: asksParity }),
    defineBlock({ name: 'ask-twice', version: '1.0.0', sideEffects: 'none', run: asksTwice }),
    defineBlock({
      name: 'obliged',
      version: '1.0.0',
      sideEffects: 'idempotent',
      confirm: { message: 'Act?' },
      limits: { attempts: 2, timeoutMs: 86_400_000 },
      run: (ctx) => ctx.effect('post', { request: 'it', perform: (call) => world.actOnce(call) })
    }),
    defineBlock({
      name: 'book',
      version: '1.0.0',
      sideEffects: 'idempotent',
      intents: ['office.book'],
      run: async (ctx) => {
        const done = await ctx.effect('office.reserve', {
          request: { room: 'blue' },
          perform: (call) => world.actOnce(call)
        })
        const { action } = await ctx.wait({ reason: 'external', request: 'sure?' })
        return { done, action }
      }
    })
  ]
}

const composite = (nodes: Json, transitions: Json = {}): Json => ({
  schema: 'tally-composite/1',
  name: 'scenario',
  version: '1.0.0',
  entry_point: 'a',
  nodes,
  transitions
})

const documents: Readonly<Record<string, Json>> = { ...scenarioDocuments, ...compensationDocuments }

function documentOf(title: string): Json {
  const document = documents[title]
  if (document === undefined) throw new Error(`no document: ${title}`)
  return document
}

/** A run from its start to its end; life n of its process ends at boundary `deaths[n]`. */
function whole(
  title: string,
  given: {
    readonly document?: Json
    /** A registered one, in the place of a document. */
    readonly workflow?: string
    readonly inputs?: Json
    readonly deaths?: readonly number[]
    readonly decide?: Decide
  } = {}
): JournalScene {
  const { workflow, inputs = {}, deaths = [], decide = agreeable } = given
  const document = given.document ?? (workflow === undefined ? documentOf(title) : null)
  const play = async () => {
    const begins = workflow === undefined ? {} : { workflow }
    const scenario = { document, inputs, registrations: sceneRegistrations, decide, ...begins }
    const { machine } = await runScenario(scenario, deaths)
    const runtime = await machine.open(sceneRegistrations(machine.world))
    const lines = await linesOf(runtime)
    await runtime.close()
    return lines
  }
  return { title, play }
}

async function linesOf(runtime: WiredRuntime): Promise<readonly RecordedLine[]> {
  const lines: RecordedLine[] = []
  for await (const { text, receiptHash = null } of runtime.journal(SCENARIO_RUN)) {
    lines.push({ text, receiptHash })
  }
  return lines
}

type Act = 'poke' | 'answer' | 'reopen' | 'reopen without code' | 'cancel' | 'advance'

/** A run to which things happen while nothing moves, and which then runs to its end. */
function staged(title: string, document: Json, acts: readonly Act[]): JournalScene {
  return { title, play: () => new Stage(document).play(acts) }
}

class Stage {
  readonly #machine = new Machine()
  readonly #document: Json
  #runtime: (WiredRuntime & { readonly life: Parameters<typeof driveRun>[1]['life'] }) | undefined
  #pokes = 0

  constructor(document: Json) {
    this.#document = document
  }

  async play(acts: readonly Act[]): Promise<readonly RecordedLine[]> {
    await this.#open()
    released(await this.#begin())
    await this.#quiet()
    for (const act of acts) {
      await this.#act(act)
      await this.#quiet()
    }
    const runtime = this.#opened
    const status = runtime.ledger.run(SCENARIO_RUN)?.status
    if (status === 'running' || status === 'waiting') {
      const run = await runtime.resume(SCENARIO_RUN)
      const told = { events: [], accepted: [] }
      const { life } = runtime
      await driveRun(run, { machine: this.#machine, life, runtime, decide: agreeable, told })
    }
    const lines = await linesOf(runtime)
    await runtime.close()
    return lines
  }

  get #opened() {
    if (this.#runtime === undefined) throw new Error('nothing is open')
    return this.#runtime
  }

  async #begin(): Promise<RunHandle> {
    const { action } = this.#document as JsonObject
    if (typeof action !== 'string') {
      return this.#opened.begin(this.#document, { id: SCENARIO_RUN, inputs: {} })
    }
    await this.#opened.intent({ id: SCENARIO_RUN, action })
    return this.#opened.attach(SCENARIO_RUN)
  }

  async #open(registrations = sceneRegistrations(this.#machine.world)): Promise<void> {
    this.#runtime = await this.#machine.open(registrations)
  }

  #quiet(): Promise<void> {
    return settleDown(() => this.#opened.ledger.run(SCENARIO_RUN)?.entries)
  }

  async #act(act: Act): Promise<void> {
    switch (act) {
      case 'poke': {
        this.#pokes += 1
        const poke = composite({ a: { block: 'count' } })
        await this.#opened.begin(poke, { id: `poke-${this.#pokes}` as RunId }).result
        return
      }
      case 'answer': {
        const run = await this.#opened.resume(SCENARIO_RUN)
        released(run)
        await this.#quiet()
        const [wait] = await run.waits()
        if (wait === undefined) throw new Error('nothing is asked')
        await reply(run, wait, agreeable(wait, this.#machine.world))
        return
      }
      case 'cancel':
        await (await this.#opened.attach(SCENARIO_RUN)).cancel('enough')
        return
      case 'advance': {
        const { clock } = this.#machine
        clock.advance(Math.max(0, (clock.nextDue ?? 0) - clock.now()))
        return
      }
      case 'reopen':
      case 'reopen without code':
        await this.#opened.close()
        await this.#open(act === 'reopen' ? undefined : {})
        if (act === 'reopen') released(await this.#opened.resume(SCENARIO_RUN))
    }
  }
}

/** Its end is looked up in the ledger. */
function released(run: RunHandle): void {
  run.result.catch(() => undefined)
}

const chain = { a: { block: 'book' }, b: { block: 'ask' } }
const inAtomic = (nodes: Json, transitions: Json): Json =>
  composite({ a: { composite: { atomic: true, entry_point: 'a', nodes, transitions } } })

/** Of each kind of journal one, or a few; new ones are added, old ones never made again. */
export const journalScenes: Readonly<Record<string, JournalScene>> = {
  'inline-run': whole('an inline run', { document: composite({ a: { block: 'count' } }) }),
  loop: whole('a loop with a branch'),
  'composite-waits': whole('confirmations, a wait and a sleep'),
  approved: whole('a confirmation that approvers sign', { deaths: [4, 5] }),
  'parked-and-killed': whole('confirmations, a wait and a sleep', { deaths: [6, 9, 8] }),
  'mixed-leaf': whole('effects, a listing and waits in one block'),
  'mixed-leaf-killed': whole('effects, a listing and waits in one block', { deaths: [8, 7, 9] }),
  retries: whole('retries now and later'),
  'unknown-outcome': whole('an effect with an unknown outcome', { deaths: [3] }),
  'unknown-retried': whole('an effect with an unknown outcome', {
    deaths: [3, 5],
    decide: (wait, world) =>
      wait.actions.includes('retry') ? { action: 'retry' } : agreeable(wait, world)
  }),
  decision: whole('a failure that a person decides about'),
  failure: whole('a failure that ends the run'),
  nested: whole('three levels with waits'),
  'denied-confirmation': whole('confirmations, a wait and a sleep', {
    decide: (wait, world) =>
      wait.reason === 'confirmation' ? { action: 'deny' } : agreeable(wait, world)
  }),
  cancelled: whole('three levels with waits', { decide: () => ({ action: 'cancel' }) }),
  'atomic-in-atomic': whole('an atomic composite in an atomic composite'),
  'atomic-killed': whole('an atomic composite in an atomic composite', { deaths: [5, 6] }),
  'plan-declared': whole('a plan in declared order'),
  'plan-declared-killed': whole('a plan in declared order', { deaths: [7, 9] }),
  'plan-atomic': whole('an atomic plan'),
  'atomic-tried-again': whole('an atomic composite that fails and is tried again'),
  rollback: whole('two writes that are undone'),
  'rollback-killed': whole('two writes that are undone', { deaths: [9, 9] }),
  'rollback-tried-again': whole('a rollback that is tried again'),
  'rollback-left': whole('compensations that fail or are not known'),
  'rollback-inner': whole('an inner rollback inside a commit'),
  'rollback-of-inner': whole('a rollback of what an inner one has committed'),
  'rollback-cancelled': whole('two writes that are undone', {
    decide: (wait, world) =>
      wait.reason === 'external' ? { action: 'cancel' } : agreeable(wait, world)
  }),
  deferred: whole('deferred steps'),
  'deferred-retries': whole('a deferred step with retries'),
  'deferred-never-done': whole('a deferred step that is never done'),
  conflict: staged(
    'a composite whose state has changed runs again',
    inAtomic({ a: { block: 'count' }, b: { block: 'ask' } }, { a: 'b' }),
    ['poke', 'answer']
  ),
  'listing-after-restart': staged(
    'a listing is repeated after a restart',
    inAtomic({ a: { block: 'note' }, b: { block: 'ask' } }, { a: 'b' }),
    ['reopen', 'answer']
  ),
  rewound: staged(
    'an answer is dropped on another state',
    composite({ a: { block: 'ask-twice' } }),
    ['answer', 'poke', 'reopen', 'answer']
  ),
  'rewound-write': staged(
    'a write is dropped on another state, and the run fails',
    composite({ a: { block: 'send-parity' } }),
    ['reopen', 'poke', 'reopen', 'answer']
  ),
  'asked-again': staged(
    'a question is asked a second time',
    composite({ a: { block: 'ask-parity' } }),
    ['poke', 'reopen', 'poke', 'reopen', 'answer']
  ),
  'cancelled-without-code': staged(
    'a run is ended without its code',
    composite(chain, { a: 'b' }),
    ['reopen without code', 'cancel']
  ),
  signalled: whole('signals to one block, and to the next', {
    document: composite({ a: { block: 'takes' }, b: { block: 'takes' } }, { a: 'b' })
  }),
  'signalled-killed': whole('signals to one block, and to the next', {
    document: composite({ a: { block: 'takes' }, b: { block: 'takes' } }, { a: 'b' }),
    deaths: [4, 6, 5]
  }),
  tagged: whole('tags that a block sets before and behind a wait', {
    document: composite({ a: { block: 'tags' } })
  }),
  'tagged-killed': whole('tags that a block sets before and behind a wait', {
    document: composite({ a: { block: 'tags' } }),
    deaths: [3, 6]
  }),
  obliged: whole('an obligation of a block', { document: composite({ a: { block: 'obliged' } }) }),
  'obliged-killed': whole('an obligation of a block', {
    document: composite({ a: { block: 'obliged' } }),
    deaths: [2, 3]
  }),
  'in-code': whole('a workflow in code', { workflow: 'in-code' }),
  'in-code-killed': whole('a workflow in code', { workflow: 'in-code', deaths: [4, 12, 9] }),
  'in-code-rolled-back': whole('a workflow in code that fails in an atomic part', {
    workflow: 'in-code',
    inputs: 'too much'
  }),
  intent: staged('a run that is one intent', { action: 'office.book' }, ['reopen', 'answer'])
}
