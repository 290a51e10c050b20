import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../src/block/index.js'
import { executorError, type Json, type JsonObject } from '../../src/core/index.js'
import {
  type ChainFailureCode,
  chainFailed,
  chainProviders,
  type Executor
} from '../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION, type RunHandle } from '../../src/runtime/index.js'
import { FakeChain, fakeExecutor } from '../../src/testing/index.js'
import { troublesOf } from '../../src/workflow/engine/diagnose.js'
import { dryPreflight, givenOf, valuesFor } from '../../src/workflow/index.js'
import { aisText, goodPlan, protocolOf } from '../support/ais.js'
import { flow } from '../support/ais-flows.js'
import { isLong } from '../support/effort.js'

/**
 * Nothing is sent on any chain before everything known has been asked (W15): every kind of thing
 * that can be missing on a second chain, times where the node that needs it stands in the plan.
 */

const home = 'eip155:1'
const away = 'eip155:10'

/** Two chains, and what is wrong with the second until somebody mends it. */
class World {
  isBroken = true
  /** How often each chain was asked whether it is ready. */
  readonly asked: string[] = []
  readonly home = new FakeChain({ id: home, read: () => ({ balance: '7' }) })
  readonly away = new FakeChain({ id: away, read: () => ({ balance: '7' }) })
  readonly #kind: Kind

  constructor(kind: Kind) {
    this.#kind = kind
    this.away.canPay = () => !this.#is('no balance')
    this.away.hasCode = () => !this.#is('no contract')
  }

  get sent(): readonly number[] {
    return [this.home.effective().length, this.away.effective().length]
  }

  /** As a process has it that starts now. */
  executors(): readonly Executor[] {
    const chains = this.#is('no chain') ? [this.home] : [this.home, this.away]
    const inner = fakeExecutor({
      chains,
      accounts: { default: '0xme' },
      executions: {
        evm_read: 'read',
        evm_call: 'write',
        ...(this.#is('no executor') ? {} : { odd_call: 'write' })
      }
    })
    const account: Executor['account'] = (request, options) => {
      if (request.chain === away) this.#accountFault()
      return inner.account(request, options)
    }
    const ready: NonNullable<Executor['ready']> = async (request, options) => {
      this.asked.push(request.chain)
      if (request.chain === away) this.#endpointFault()
      return present(inner.ready?.bind(inner))(request, options)
    }
    const bound = (name: 'check' | 'read' | 'simulate' | 'prepare' | 'broadcast' | 'look') =>
      inner[name].bind(inner) as never
    return [
      {
        namespace: 'eip155',
        chains: inner.chains,
        executions: inner.executions,
        check: bound('check'),
        read: bound('read'),
        simulate: bound('simulate'),
        prepare: bound('prepare'),
        broadcast: bound('broadcast'),
        look: bound('look'),
        recover: (all) => inner.recover(all),
        account,
        ready
      }
    ]
  }

  #is(kind: Kind): boolean {
    return this.isBroken && this.#kind === kind
  }

  #accountFault(): void {
    if (this.#is('no secret')) throw failed('missing_secret', 'prepare')
    if (this.#is('no account')) throw failed('unknown_account', 'prepare')
    if (this.#is('bad key')) throw executorError('executor.invalid_key', { name: 'default' })
  }

  #endpointFault(): void {
    if (this.#is('endpoint down')) throw failed('rpc_down', 'check')
    if (this.#is('wrong chain')) throw failed('chain_mismatch', 'check')
  }
}

function failed(code: ChainFailureCode, phase: 'prepare' | 'check') {
  return chainFailed(code, { phase, chain: away, message: `it is ${code}` })
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('it is not there')
  return value
}

/** What can be missing, and what the question says of it. */
const kinds = {
  'no chain': ['executor', 'unknown_chain'],
  'no executor': ['execution', 'invalid_execution'],
  'no secret': ['account', 'missing_secret'],
  'bad key': ['account', 'missing_secret'],
  'no account': ['account', 'unknown_account'],
  'endpoint down': ['endpoint', 'rpc_down'],
  'wrong chain': ['endpoint', 'chain_mismatch'],
  'no balance': ['fees', 'insufficient_funds'],
  'no contract': ['contract', 'invalid_execution']
} as const
type Kind = keyof typeof kinds

/** The others are found by the same look, in the short form at one place. */
const usual: ReadonlySet<Kind> = new Set<Kind>(['no chain', 'no secret', 'no contract'])

const odd = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'odd', version: '1.0.0' },
  actions: {
    act: {
      description: 'Does something in a way of its own.',
      risk_level: 1,
      params: [],
      execution: { 'eip155:*': { type: 'odd_call', what: { lit: 'it' } } }
    }
  }
}

const wallet = { lit: `0x${'b'.repeat(40)}` }
const tokenOn = (chain: string) => ({
  lit: { chain_id: chain, address: `0x${'a'.repeat(40)}`, decimals: 6 }
})

function query(id: string, more: JsonObject = {}): JsonObject {
  const args = { token: tokenOn(home), owner: wallet }
  const node = { id, type: 'query_ref', protocol: 'erc20@0.0.2', query: 'balance', args }
  return { ...node, chain: home, ...more }
}

function send(id: string, chain: string, more: JsonObject = {}): JsonObject {
  const args = { token: tokenOn(chain), to: wallet, amount: { lit: '5' } }
  const node = { id, type: 'action_ref', protocol: 'erc20@0.0.2', action: 'transfer', args }
  return { ...node, chain, ...more }
}

/** The node on the second chain that needs what is missing. */
function troubled(kind: Kind, more: JsonObject = {}): JsonObject {
  if (kind !== 'no executor') return send('far', away, more)
  const { args: _, ...rest } = more
  return {
    id: 'far',
    type: 'action_ref',
    protocol: 'odd@1.0.0',
    action: 'act',
    chain: away,
    ...rest
  }
}

interface Position {
  readonly nodes: (kind: Kind) => readonly JsonObject[]
  /** Node that asks; null: nothing is needed, and nothing is asked. */
  readonly asks: string | null
  /** Writes on each chain before it asks: those of which nothing more was known. */
  readonly before?: number
  /** Writes on each chain in the end. */
  readonly sent: readonly [number, number]
  readonly inputs?: JsonObject
  readonly skips?: (kind: Kind) => boolean
}

const isRich = { cel: 'nodes.look.outputs.balance > 5' }
const isPoor = { cel: 'nodes.look.outputs.balance < 5' }
const start = 'run__preflight'
const later = 'run__preflight_1'

const positions: Readonly<Record<string, Position>> = {
  first: { nodes: (kind) => [troubled(kind)], asks: start, sent: [0, 1] },
  'behind a write': {
    nodes: (kind) => [send('near', home), troubled(kind, { deps: ['near'] })],
    asks: start,
    sent: [1, 1]
  },
  'in the other branch': {
    nodes: (kind) => [send('near', home), troubled(kind)],
    asks: start,
    sent: [1, 1]
  },
  'behind a condition that inputs make true': {
    nodes: (kind) => [
      send('near', home),
      troubled(kind, { deps: ['near'], condition: { ref: 'inputs.go' } })
    ],
    inputs: { go: true },
    asks: start,
    sent: [1, 1]
  },
  'behind a condition that inputs make false': {
    nodes: (kind) => [
      send('near', home),
      troubled(kind, { deps: ['near'], condition: { ref: 'inputs.go' } })
    ],
    inputs: { go: false },
    asks: null,
    sent: [1, 0]
  },
  'behind a condition that a result makes true': {
    nodes: (kind) => [
      query('look'),
      send('near', home, { deps: ['look'] }),
      troubled(kind, { deps: ['near'], condition: isRich })
    ],
    asks: later,
    sent: [1, 1]
  },
  'behind a condition that a result makes false': {
    nodes: (kind) => [
      query('look'),
      send('near', home, { deps: ['look'] }),
      troubled(kind, { deps: ['near'], condition: isPoor })
    ],
    asks: null,
    sent: [1, 0]
  },
  'behind a condition, beside a write that needs no result': {
    nodes: (kind) => [query('look'), send('near', home), troubled(kind, { condition: isRich })],
    asks: later,
    before: 1,
    sent: [1, 1]
  },
  'behind two writes under the same condition': {
    nodes: (kind) => [
      query('look'),
      send('near', home, { condition: isRich }),
      send('next', home, { condition: isRich, deps: ['near'] }),
      troubled(kind, { condition: isRich, deps: ['next'] })
    ],
    asks: later,
    sent: [2, 1]
  }
}

async function question(run: RunHandle): Promise<readonly OpenWait[]> {
  for await (const event of run) {
    if (event.type === 'run.finished') return []
    if (event.type === 'run.parked') return run.waits()
  }
  return []
}

async function opened(world: World) {
  return createRuntime({
    location: MEMORY_LOCATION,
    providers: chainProviders(world.executors()),
    workflow: {
      protocols: [aisText('erc20'), odd],
      writes: 'broadcast',
      policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
    }
  })
}

function documentOf({ nodes, inputs }: Position, kind: Kind): JsonObject {
  const types = Object.fromEntries(
    Object.keys(inputs ?? {}).map((name) => [name, { type: 'bool', required: true }])
  )
  return flow(nodes(kind), { inputs: types })
}

/** A dry run says before the run what its first question says then, as far as it is known. */
async function expectForetold(position: Position, kind: Kind, waits: readonly OpenWait[]) {
  const protocols = [aisText('erc20'), odd as Json].map(protocolOf)
  const { plan } = await goodPlan(documentOf(position, kind), protocols)
  const options = { values: await valuesFor(plan), writes: 'broadcast' } as const
  const given = givenOf(position.inputs ?? {})
  const providers = chainProviders(new World(kind).executors())
  const looks = await dryPreflight(plan, given, { ...options, providers })
  const missing = looks.flatMap(({ chains }) => chains.flatMap((one) => one.missing ?? []))
  const [trouble] = troublesOf({ waits, response: null })
  const asked = trouble?.diagnostic?.values ?? []
  const told = missing.map(({ chain, about, code, message, nodes }) => ({
    place: `${chain} ${about}`,
    message: `${code}: ${message} (${nodes.join(', ')})`
  }))
  // What only results decide is looked at later.
  expect(told).toEqual(position.asks === start ? asked : [])
  expect(looks.map(({ id }) => id)).toContain(position.asks)
  const listed = await dryPreflight(plan, given, options)
  const bare = (all: typeof looks) =>
    all.map((look) => ({
      ...look,
      chains: look.chains.map((one) => ({ ...one, missing: null, unchecked: [] }))
    }))
  expect(listed).toEqual(bare(looks))
}

describe('W15: before the first write', () => {
  for (const [place, position] of Object.entries(positions)) {
    for (const [name, [about, code]] of Object.entries(kinds)) {
      const kind = name as Kind
      if (!isLong && place !== 'first' && !usual.has(kind)) continue
      const isAsked = position.asks === null ? 'not asked' : 'one question'
      it(`${kind} is ${isAsked} ${place}`, async () => {
        const world = new World(kind)
        await using tally = await opened(world)
        const document = documentOf(position, kind)
        const run = tally.begin(document, { id: 'one', inputs: position.inputs ?? {} })
        const waits = await question(run)
        if (position.asks === null) {
          expect(await run.result).toMatchObject({ status: 'done' })
          expect(world.sent).toEqual(position.sent)
          return
        }
        expect(waits.map(({ path }) => path)).toEqual([`root/${position.asks}`])
        await expectForetold(position, kind, waits)
        const { before = 0 } = position
        expect(world.sent).toEqual([before, 0])
        const [trouble] = troublesOf({ waits, response: null })
        expect(trouble).toMatchObject({
          kind: 'decision',
          diagnostic: {
            code: 'not_ready',
            phase: 'preflight',
            chain: away,
            values: [
              { place: `${away} ${about}`, message: expect.stringMatching(`^${code}: .*\\(far\\)`) }
            ],
            actions: ['retry', 'ask_user', 'abort']
          },
          actions: ['retry', 'skip', 'abort']
        })
        const [wait] = waits
        const { token = '', digest = '' } = wait ?? {}
        const patch = { digest, action: 'patch', value: { patches: [] } } as const
        expect(await run.resume(token, patch)).toMatchObject({ reason: 'answer_refused' })
        world.isBroken = false
        if (kind === 'no chain' || kind === 'no executor') {
          // What is configured is read when a process starts.
          expect(await run.resume(token, { digest, action: 'abort' })).toMatchObject({
            accepted: true
          })
          expect(await run.result).toMatchObject({ status: 'failed' })
          expect(world.sent).toEqual([before, 0])
        } else {
          await run.resume(token, { digest, action: 'retry' })
          expect(await run.result).toMatchObject({ status: 'done' })
          expect(world.sent).toEqual(position.sent)
        }
        expect(await tally.verify()).toMatchObject({ ok: true })
      })
    }
  }
})
