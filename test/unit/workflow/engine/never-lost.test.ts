import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../../../src/block/index.js'
import { isJsonObject, type Json, type JsonObject } from '../../../../src/core/index.js'
import {
  type ChainFailureCode,
  type ChainPhase,
  chainEffects,
  chainFailed,
  chainFailureCodes,
  hadNoEffect
} from '../../../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION, type RunHandle } from '../../../../src/runtime/index.js'
import { type NodeTrouble, troublesOf } from '../../../../src/workflow/engine/diagnose.js'
import type { WorkflowHost } from '../../../../src/workflow/index.js'
import { aisText } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { asset, balance, flow, transfer } from '../../../support/ais-flows.js'
import { isLong } from '../../../support/effort.js'
import { amount, failingScenes, pays, withOffer } from '../../../support/failing-scenes.js'

/** W13: a new id never is the only way on, whatever a node fails of and wherever. */

const host: WorkflowHost = {
  protocols: [aisText('erc20')],
  writes: 'broadcast',
  policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
}
const commands = ['retry', 'patch', 'skip', 'abort'] as const
type Command = (typeof commands)[number]
/** Those that end the wait of one node, and not the run. */
const ended = ['retry', 'patch', 'skip'] as const

/** Where a chain fails: the effect that is answered with a failure, of which node. */
interface Place {
  readonly effect: string
  readonly phase: ChainPhase
  readonly node: (id: string, of: JsonObject) => JsonObject
  /** Whether something was sent before, or may have been. */
  readonly sent: boolean
  readonly more?: (ids: readonly string[]) => JsonObject
}

const twice = { retry: { interval_ms: 1, max_attempts: 2 } }
const polls = (id: string) => ({ until: { cel: `nodes.${id}.outputs.balance > 0` }, ...twice })
const read = (id: string, of: JsonObject) =>
  balance(id, { args: { token: asset, owner: of }, ...twice })
const poll = (id: string, of: JsonObject) =>
  balance(id, { args: { token: asset, owner: of }, ...polls(id) })
const pay = (id: string, of: JsonObject) =>
  transfer(id, { args: { token: asset, to: of, amount: { lit: '5' } } })
const simulated = (ids: readonly string[]) => ({
  preflight: { simulate: Object.fromEntries(ids.map((id) => [id, true])) }
})

const places: Readonly<Record<string, Place>> = {
  'a read, before it is asked': { effect: 'read', phase: 'check', node: read, sent: false },
  'a read': { effect: 'read', phase: 'read', node: read, sent: false },
  'a poll': { effect: 'read', phase: 'read', node: poll, sent: false },
  'a simulation': {
    effect: 'simulate',
    phase: 'simulate',
    node: pay,
    sent: false,
    more: simulated
  },
  'what is prepared': { effect: 'prepare', phase: 'prepare', node: pay, sent: false },
  'what is simulated when it is prepared': {
    effect: 'prepare',
    phase: 'simulate',
    node: pay,
    sent: false
  },
  'what is refused when it is sent': {
    effect: 'broadcast',
    phase: 'send',
    node: pay,
    sent: false
  },
  'what is looked for': { effect: 'look', phase: 'confirm', node: pay, sent: true }
}

/** A refusal ends its run, as its person has said (W13). */
const codes = (Object.keys(chainFailureCodes) as ChainFailureCode[]).filter(
  (code) => code !== 'denied'
)

/** One node of a run: which code it fails of, and which command ends its wait. */
interface Case {
  readonly id: string
  readonly code: ChainFailureCode
  readonly command: Command
  readonly address: string
}

function casesOf(list: readonly (readonly [ChainFailureCode, Command])[]): readonly Case[] {
  return list.map(([code, command], index) => ({
    id: `${code}_${command}`,
    code,
    command,
    address: `0x${(index + 1).toString(16).padStart(40, '0')}`
  }))
}

/** A chain that fails at a place for each node whose fault has not been mended. */
async function open(place: Place, cases: readonly Case[], schema: string) {
  const chain = new TestChain({ read: () => ({ balance: '1' }) })
  const mended = new Set<string>()
  const caseIn = (request: Json) => {
    const text = JSON.stringify(request)
    return cases.find(({ address }) => text.includes(address.slice(2)))
  }
  const failing = chainEffects[place.effect as keyof typeof chainEffects]
  const providers = chain.providers.map((provider) => ({
    ...provider,
    perform: async (call: Parameters<typeof provider.perform>[0]) => {
      const found = caseIn(call.request) ?? hashed(chain, call.request, caseIn)
      if (provider.name === failing && found !== undefined && !mended.has(found.id)) {
        const { code } = found
        const { phase, sent } = place
        throw chainFailed(code, { phase, chain: 'eip155:1', message: 'it is planted', sent })
      }
      const answer = await provider.perform(call)
      if (provider.name !== chainEffects.prepare || !isJsonObject(answer)) return answer
      return { ...answer, terms: { confirmations: 1, pollMs: 1, timeoutMs: 8 } }
    }
  }))
  const tally = await createRuntime({ location: MEMORY_LOCATION, providers, workflow: host })
  const ids = cases.map(({ id }) => id)
  const inputs = Object.fromEntries(
    cases.map(({ id, address }) => [`of_${id}`, { type: 'address', default: address }])
  )
  const nodes = cases.map(({ id }) => place.node(id, { ref: `inputs.of_${id}` }))
  const document = flow(nodes, { schema, inputs, ...place.more?.(ids) })
  const run = tally.begin(document, { id: 'one', inputs: {} })
  return { tally, run, chain, mended }
}

/** A look says of which transaction by its hash alone. */
function hashed(
  chain: TestChain,
  request: Json,
  caseIn: (request: Json) => Case | undefined
): Case | undefined {
  const hash = isJsonObject(request) ? request['hash'] : undefined
  const sent = typeof hash === 'string' ? chain.sent.get(hash) : undefined
  return sent && caseIn(sent.execution)
}

/** Everything that waits once nothing else can move; undefined: the run has ended. */
async function parked(run: RunHandle): Promise<readonly OpenWait[] | undefined> {
  for await (const event of run) {
    if (event.type === 'run.finished') return undefined
    if (event.type === 'run.parked') return run.waits()
  }
  return undefined
}

function troubleOf(wait: OpenWait, definition: Json): NodeTrouble {
  const [trouble] = troublesOf({ waits: [wait], response: null, definition })
  if (trouble === undefined) throw new Error(`nothing is said of ${wait.path}`)
  return trouble
}

/** Does what a wait offers and what it does not, and says what was refused. */
async function answered(run: RunHandle, wait: OpenWait, command: Command, value: Json) {
  const { token, digest } = wait
  const answer = { digest, action: command, ...(command === 'patch' ? { value } : {}) }
  return run.resume(token, answer)
}

const schemas = ['ais-flow/0.0.3', 'ais-flow/0.0.2']

describe('W13: a new id never is the only way on', () => {
  const rows = Object.entries(places).flatMap(([name, place], index) =>
    schemas
      .filter((_, version) => isLong || version === index % schemas.length)
      .map((schema) => ({ name, place, schema }))
  )
  for (const { name, place, schema } of rows) {
    it(`${name}, ${schema}: each command that is offered works, and no other`, async () => {
      const list = codes.flatMap((code, index) =>
        ended
          .filter((_, place) => isLong || place === index % ended.length)
          .map((command) => [code, command] as const)
      )
      const cases = casesOf(list)
      const { tally, run, chain, mended } = await open(place, cases, schema)
      await using _ = tally
      const waits = (await parked(run)) ?? []
      expect(waits.map(({ path }) => path).sort()).toEqual(
        cases.map(({ id }) => `root/${id}`).sort()
      )
      const definition = tally.ledger.run(run.id)?.started['definition'] as Json
      for (const wait of waits) {
        const one = cases.find(({ id }) => wait.path === `root/${id}`)
        if (one === undefined) throw new Error(wait.path)
        const trouble = troubleOf(wait, definition)
        expect(trouble.diagnostic, one.id).toMatchObject({ code: one.code })
        const isOffered = trouble.actions.includes(one.command)
        const [path = `inputs.of_${one.id}`] = trouble.patches ?? []
        const value: Json = { patches: [{ path, value: one.address }] }
        if (isOffered) mended.add(one.id)
        const { accepted } = await answered(run, wait, one.command, value)
        expect([one.id, accepted]).toEqual([one.id, isOffered])
        if (accepted) continue
        mended.add(one.id)
        expect(await answered(run, wait, 'retry', null)).toMatchObject({ accepted: true })
      }
      expect(await parked(run)).toBeUndefined()
      expect((await run.result).status).toBe('done')
      for (const { id, code, address } of cases) {
        const sent = [...chain.sent.values()].filter(({ execution }) =>
          JSON.stringify(execution).includes(address.slice(2))
        )
        expect([id, hadNoEffect(code) || sent.length <= 1]).toEqual([id, true])
      }
      expect(await tally.verify()).toMatchObject({ ok: true })
    })
  }
})

describe('W13: what the engine finds', () => {
  const rows = Object.entries(failingScenes).flatMap(([code, scene]) =>
    typeof scene === 'string' ? [] : [[code, scene] as const]
  )
  it.each(rows)('%s: each command that is offered works, and no other', async (code, scene) => {
    const chain = new TestChain({ read: () => scene.read ?? { balance: '1' } })
    const protocol = aisText('erc20')
    const changed = scene.protocol?.(protocol) ?? protocol
    const ready = {
      name: chainEffects.ready,
      perform: () => ({
        chain: 'eip155:1',
        problems: scene.ready === undefined ? [] : [{ subject: null, ...scene.ready }],
        unchecked: []
      })
    }
    const ends: readonly Command[] = isLong ? ['patch', 'skip', 'abort'] : ['patch']
    for (const end of ends) {
      await using tally = await createRuntime({
        location: MEMORY_LOCATION,
        providers: [...chain.providers, ready],
        workflow: {
          ...host,
          protocols: [changed],
          policy: { ...host.policy, ...scene.policy }
        }
      })
      const run = tally.begin(scene.document, { id: 'one', inputs: {} })
      const definition = () => tally.ledger.run(run.id)?.started['definition'] as Json
      const path = `root/${scene.node ?? 'pay'}`
      const value: Json = { patches: [{ path: 'inputs.amount', value: scene.value ?? '7' }] }
      const next = async () => {
        const wait = (await parked(run))?.find((one) => one.path === path)
        if (wait === undefined) throw new Error(`${path} does not wait`)
        const { diagnostic, actions } = troubleOf(wait, definition())
        expect([diagnostic?.code, actions]).toEqual([code, scene.offered ?? withOffer])
        return wait
      }
      expect(await answered(run, await next(), 'retry', null)).toMatchObject({ accepted: true })
      const wait = await next()
      const isOffered = end !== 'patch' || scene.offered === undefined
      expect(await answered(run, wait, end, value)).toMatchObject({ accepted: isOffered })
      if (!isOffered) await answered(run, wait, 'skip', null)
      expect(await parked(run)).toBeUndefined()
      expect((await run.result).status).toBe(end === 'abort' ? 'failed' : 'done')
      expect(chain.functions.length).toBeLessThanOrEqual(ends.indexOf(end) + 1)
      expect(await tally.verify()).toMatchObject({ ok: true })
    }
  })
})

describe('W13: a patch after a payment has taken effect', () => {
  it('is refused where the node would pay again, and nothing is sent', async () => {
    const chain = new TestChain()
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: chain.providers,
      workflow: host
    })
    const assert = { cel: 'inputs.amount > 5 && inputs.least > 5' }
    const inputs = { ...amount, least: { type: 'uint256', default: '5' } }
    const document = flow([pays({ ref: 'inputs.amount' }, { assert })], { inputs })
    const run = tally.begin(document, { id: 'one', inputs: {} })
    const [wait] = (await parked(run)) ?? []
    if (wait === undefined) throw new Error('it does not wait')
    const definition = tally.ledger.run(run.id)?.started['definition'] as Json
    expect(troubleOf(wait, definition).patches).toEqual(['inputs.least'])
    const more = { path: 'inputs.amount', value: '6' }
    const least = { path: 'inputs.least', value: '6' }
    for (const patches of [[more], [least, more]]) {
      expect(await answered(run, wait, 'patch', { patches })).toMatchObject({
        reason: 'answer_refused',
        problem: expect.stringContaining('has taken effect')
      })
    }
    expect(await answered(run, wait, 'patch', { patches: [least] })).toMatchObject({
      accepted: true
    })
    const [again] = (await parked(run)) ?? []
    if (again === undefined) throw new Error('it does not wait')
    expect(await answered(run, again, 'skip', null)).toMatchObject({ accepted: true })
    expect((await run.result).status).toBe('done')
    expect(chain.functions).toEqual(['transfer'])
  })
})
