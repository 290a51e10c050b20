import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AdapterRegistry, type AgentTool, fakeAdapter } from '../../../../src/agent/index.js'
import type { OpenWait } from '../../../../src/block/index.js'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import type { Registrations, RunHandle, WiredRuntime } from '../../../../src/runtime/index.js'
import { aisText } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { transfer, flow as workflow } from '../../../support/ais-flows.js'
import { type ApproverName, approvers, signed, twoOfThree } from '../../../support/approvers.js'
import { isLong } from '../../../support/effort.js'
import { agentOf, flowOf, nodeOf } from '../../../support/flows.js'
import { Machine, settleDown, until } from '../../../support/lives.js'
import { verifiedByPython } from '../../../support/python-verifier.js'

/**
 * K13, K14: a policy and an obligation ask about the same effect. Each question has its own
 * approvers and its own answer, whoever has started the run and wherever the process dies.
 */

type Approvers = typeof twoOfThree
const alone: Approvers = { threshold: 1, keys: [approvers.eve.key] }
/** Who has to sign; null for anybody; undefined where it does not ask. */
type Asked = Approvers | null | undefined

const policies: Readonly<Record<string, Asked>> = {
  'a policy that asks nothing': undefined,
  'a policy that asks': null,
  'a policy with approvers': twoOfThree
}
const obligations: Readonly<Record<string, Asked>> = {
  'no obligation': undefined,
  'an obligation to ask': null,
  'an obligation with the same approvers': twoOfThree,
  'an obligation with others': alone
}

interface Road {
  readonly name: string
  readonly effect: string
  document(policy: Asked): JsonObject
  /** What an agent needs to go it: subjects and capabilities. */
  readonly grants: readonly (readonly [string, ...string[]])[]
  /** An approval of what is sent, which any answer can give, is not asked for twice. */
  readonly joins: boolean
}

const named = (policy: Asked) =>
  policy === undefined || policy === null ? {} : { approvers: policy as unknown as Json }

const roads: readonly Road[] = [
  {
    name: 'a transaction of a workflow',
    effect: 'chain.broadcast',
    document: (policy) => ({
      schema: 'ais-bundle/1',
      flow: workflow([transfer('pay')]),
      packs: [
        {
          schema: 'ais-pack/0.0.2',
          meta: { name: 'own', version: '1.0.0' },
          includes: [{ protocol: 'erc20', version: '0.0.2' }],
          policy: {
            approvals: {
              auto_execute_max_risk_level: policy === undefined ? 5 : 0,
              ...named(policy)
            }
          }
        }
      ],
      writes: 'broadcast'
    }),
    grants: [['ais.action'], ['ais.preflight']],
    joins: false
  },
  {
    name: 'a tool of an agent',
    effect: 'agent.tool.act',
    document: (policy) =>
      flowOf({
        agents: [
          agentOf('main', {
            toolPolicy: {
              allowedCapabilities: ['act'],
              approvalRequirement: policy === undefined ? 'never' : 'always',
              ...named(policy)
            }
          })
        ],
        nodes: [nodeOf('ask', 'agent.main', { agentId: 'main' }), nodeOf('end', 'control.finish')],
        edges: ['ask -> end']
      }),
    grants: [['agent.turn', 'agent.turn', 'agent.adapter.fake', 'agent.tool.act']],
    joins: true
  }
]

/** What is asked, in order. */
function questionsOf({ joins }: Road, policy: Asked, obligation: Asked): readonly Asked[] {
  const isJoined = joins && policy !== undefined && obligation === null
  return [policy, isJoined ? undefined : obligation].filter((one) => one !== undefined)
}

const cells = roads.flatMap((road) =>
  Object.entries(policies).flatMap(([policyName, policy]) =>
    Object.entries(obligations).map(([obligationName, obligation]) => ({
      road,
      policy,
      obligation,
      policyName,
      obligationName
    }))
  )
)
/** Both ask, in the short form, and principals take turns. */
const chosen = cells
  .filter(({ policy, obligation }) => isLong || (policy !== undefined && obligation !== undefined))
  .map((cell, index) => ({
    ...cell,
    principals: isLong ? [undefined, 'worker'] : [index % 2 === 0 ? undefined : 'worker'],
    /** Which question is denied; all of them in the long form. */
    denied: isLong ? undefined : index % 2
  }))

let folder: string
const snapshots: string[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-two-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A ledger whose process may die, and what it has done outside. */
class Ledger {
  readonly #machine = new Machine()
  readonly #chain = new TestChain()
  readonly #acts: string[] = []
  readonly #code: Registrations
  tally!: WiredRuntime

  constructor(road: Road, obligation: Asked) {
    const tool: AgentTool = {
      name: 'act',
      description: 'Acts.',
      parameters: { type: 'object' },
      sideEffects: 'non_idempotent',
      // Others than the owner may leave out the question before what destroys nothing only.
      isDestructive: false,
      perform: () => {
        this.#acts.push('act')
        return 'done'
      }
    }
    const adapters = new AdapterRegistry().registerAdapter('fake', () =>
      fakeAdapter({
        script: ({ messages }) =>
          messages.length > 0
            ? { text: 'done' }
            : { text: '', toolCalls: [{ id: 'c', name: 'act', arguments: {} }] }
      })
    )
    const confirm = obligation === null ? true : obligation && { approvers: obligation }
    this.#code = {
      providers: this.#chain.providers,
      workflow: {
        protocols: [aisText('erc20')],
        // Only the owner may say in a bundle what is beyond this.
        writes: 'broadcast',
        // Packs only tighten this.
        policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
      },
      agents: { adapters, tools: [tool], environment: {} },
      ...(confirm === undefined ? {} : { obligations: { effects: { [road.effect]: { confirm } } } })
    }
  }

  get acts(): number {
    return this.#acts.length + this.#chain.functions.length
  }

  async open(): Promise<void> {
    this.tally = await this.#machine.open(this.#code)
  }

  /** The process dies, and another opens what is on disk. */
  async die(): Promise<void> {
    this.#machine.disk.crash('power')
    await this.open()
  }

  /** The only question of a run; undefined once it has ended. */
  async question(id: string): Promise<{ run: RunHandle; wait: OpenWait } | undefined> {
    const run = await this.tally.resume(id)
    run.result.catch(() => undefined)
    let waits: readonly OpenWait[] = []
    await until(async () => {
      waits = await run.waits()
      const status = this.tally.run(id)?.status
      return waits.length > 0 || (status !== 'running' && status !== 'waiting')
    })
    const [wait, ...others] = waits
    expect(others).toEqual([])
    return wait && { run, wait }
  }
}

const namesOf = ({ keys, threshold }: Approvers): readonly ApproverName[] =>
  (Object.keys(approvers) as ApproverName[])
    .filter((name) => keys.includes(approvers[name].key))
    .slice(0, threshold)

/** Answers one question, with what must not answer it tried before; the process dies in between. */
async function approve(ledger: Ledger, id: string, asked: Asked, old: object[]): Promise<void> {
  const { acts } = ledger
  const open = async () => (await ledger.question(id)) ?? never()
  const { run, wait } = await open()
  const { token, digest } = wait
  expect(wait.approvers).toEqual(asked ? { ...asked, keys: [...asked.keys].sort() } : undefined)
  // What was an answer to the other question is none to this.
  for (const message of old) {
    expect(await run.approve(token, message as never)).toMatchObject({ accepted: false })
    const moved = { ...message, digest }
    if ('approval' in moved) {
      expect(await run.approve(token, moved as never)).toMatchObject({ accepted: false })
    }
  }
  if (asked) {
    for (const unsigned of [{ digest }, { digest, by: 'Ada' }]) {
      const outcome = { accepted: false, reason: 'signature_missing' }
      expect(await run.approve(token, unsigned)).toEqual(outcome)
      expect(await run.deny(token, unsigned)).toEqual(outcome)
    }
    const strangers = asked === alone ? 'ada' : 'eve'
    expect(await run.approve(token, { digest, approval: signed(wait, strangers) })).toEqual({
      accepted: false,
      reason: 'not_an_approver'
    })
  }
  expect(ledger.acts).toBe(acts)
  const signers = asked ? namesOf(asked) : [undefined]
  for (const [index, signer] of signers.entries()) {
    const now = await open()
    expect(now.wait.token).toBe(token)
    const message = signer === undefined ? { digest } : { digest, approval: signed(wait, signer) }
    old.push(message)
    const isPartial = index < signers.length - 1 ? { isPartial: true } : {}
    expect(await now.run.approve(token, message)).toEqual({ accepted: true, ...isPartial })
    if (isPartial.isPartial === true) {
      expect(ledger.acts).toBe(acts)
      await ledger.die()
    }
  }
}

function never(): never {
  throw new Error('it waits for nothing')
}

async function start({ tally }: Ledger, document: JsonObject, id: string, agent?: string) {
  const { signal } = new AbortController()
  const by = agent === undefined ? {} : { agent }
  const params = { document: JSON.stringify(document), id, ...by }
  for await (const _ of tally.service({ method: 'run', params, signal }) as AsyncIterable<unknown>);
}

describe('a policy and an obligation of the same effect', () => {
  it.each(chosen)(
    'K14: each ask for themselves: $road.name, $policyName, $obligationName',
    async (cell) => {
      const { road, policy, obligation, principals, denied: only } = cell
      const questions = questionsOf(road, policy, obligation)
      const document = road.document(policy)
      const ledger = new Ledger(road, obligation)
      await ledger.open()
      for (const [subject, ...capabilities] of road.grants) {
        const what = capabilities.length === 0 ? {} : { capabilities }
        const payload = { principal: { kind: 'agent', id: 'worker' }, subject, ...what }
        const reply = await ledger.tally.intent({
          id: `grant-${subject}`,
          action: 'system.grant',
          payload: payload as Json as JsonObject
        })
        expect(reply).toMatchObject({ type: 'dapp' })
      }
      for (const principal of principals) {
        const who = principal ?? 'owner'
        const { acts } = ledger
        await start(ledger, document, `${who}-approved`, principal)
        const old: object[] = []
        for (const asked of questions) await approve(ledger, `${who}-approved`, asked, old)
        expect(await ledger.question(`${who}-approved`)).toBeUndefined()
        expect(ledger.tally.run(`${who}-approved`)?.status).toBe('done')
        expect(ledger.acts).toBe(acts + 1)

        for (const [denied, asked] of questions.entries()) {
          if (only !== undefined && denied !== only % questions.length) continue
          const id = `${who}-denied-${denied}`
          await start(ledger, document, id, principal)
          for (const before of questions.slice(0, denied)) await approve(ledger, id, before, [])
          await ledger.question(id)
          await ledger.die()
          const { run, wait } = (await ledger.question(id)) ?? never()
          const [signer] = asked ? namesOf(asked) : []
          const approval = signer && { approval: signed(wait, signer, { action: 'deny' }) }
          const { digest, token } = wait
          expect(await run.deny(token, { digest, ...approval })).toEqual({ accepted: true })
          expect(await ledger.question(id)).toBeUndefined()
          expect(ledger.acts).toBe(acts + 1)
        }
      }
      const { tally } = ledger
      expect(await tally.verify()).toMatchObject({ ok: true })
      expect(await tally.replay()).toMatchObject({ ok: true })
      await settleDown(() => tally.ledger.backlog().items)
      const path = join(folder, `${snapshots.length}.snapshot`)
      await tally.export({ path })
      snapshots.push(path)
      await tally.close()
    }
  )

  it('K14: are so in the eyes of the verifier in Python', () => {
    const { code, reports } = verifiedByPython(snapshots)
    expect(reports.filter(({ ok }) => !ok)).toEqual([])
    expect(code).toBe(0)
    expect(reports).toHaveLength(chosen.length)
    const count = (kind: string) => reports.reduce((sum, one) => sum + (one.checked[kind] ?? 0), 0)
    expect(count('signatures of approvers')).toBeGreaterThan(chosen.length)
    expect(count('approvals that were obliged')).toBeGreaterThan(chosen.length / 2)
  })
})
