import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/index.js'
import { programVersions, systemIntents } from '../../src/intent/index.js'
import { createRuntime, type WiredRuntime } from '../../src/runtime/index.js'
import '../support/seed.js'
import { cases, testMs } from '../support/effort.js'

const hash = fc.constantFrom('a'.repeat(64), 'b'.repeat(64))
const version = fc.constantFrom('1', '9.9.9')
const record = (members: Record<string, fc.Arbitrary<unknown>>) => fc.record(members)

/** Payloads that each action takes, some of which fit nothing that is there. */
const fitting: Partial<Record<(typeof systemIntents)[number], fc.Arbitrary<unknown>>> = {
  'package.install': record({ id: fc.constantFrom('wallet', 'mail'), version, codeHash: hash }),
  'package.uninstall': record({ id: fc.constantFrom('wallet', 'mail') }),
  'system.approver': record({ publicKey: hash, isApprover: fc.boolean() }),
  'system.grant': record({ codeHash: hash, capabilities: fc.constant(['contacts.read']) }),
  'system.identity.create': fc.constant({ label: 'for tests' }),
  'system.key.revoke': record({ publicKey: hash }),
  'system.prefer': record({
    subject: fc.constantFrom('wallet.send', 'mail.send'),
    provider: fc.constantFrom(null, 'wallet')
  }),
  'system.revoke': record({ codeHash: hash, capabilities: fc.constant(['contacts.read']) }),
  'system.takeover': record({ receipts: fc.nat(9), receiptHash: fc.constant(null) }),
  'system.erase': record({ subject: fc.constantFrom('one', 'other'), dryRun: fc.boolean() }),
  'system.upgrade': fc.oneof(
    fc.constant({ to: { ...programVersions } }),
    record({ to: record({ kernel: version }) }),
    version.map((kernel) => ({ to: { ...programVersions, kernel } }))
  )
}

const principal = fc.constantFrom<Json>(
  { kind: 'owner', id: 'owner' },
  { kind: 'agent', id: 'clever' },
  null
)

const asked = fc.constantFrom(...systemIntents).chain((action) =>
  fc.record({
    action: fc.constant(action),
    payload: fc.oneof(
      { weight: 3, arbitrary: fitting[action] ?? fc.constant({}) },
      fc.constantFrom({}, { other: 1 }, { to: { kernel: 7 } })
    ) as fc.Arbitrary<JsonObject>,
    principal,
    road: fc.constantFrom('alone', 'step', 'atomic')
  })
)

type Asked = (typeof asked extends fc.Arbitrary<infer Value> ? Value : never) & { n: number }

/** One step of a document, atomic or not; its failure is the run's. */
function documentOf({ action, payload, road }: Asked): Json {
  const node = { block: 'intent.none', input: { lit: { action, payload } } }
  return {
    schema: 'tally-composite/1',
    name: 'one',
    version: '1.0.0',
    atomic: road === 'atomic',
    entry_point: 'one',
    nodes: { one: node }
  }
}

async function done(tally: WiredRuntime, one: Asked): Promise<string> {
  const { action, payload } = one
  if (one.road !== 'alone') {
    const { response } = await tally.begin(documentOf(one), { id: `run-${one.n}` }).result
    return String(response.reason ?? 'done')
  }
  const reply = await tally.intents.submit({ action, payload }, one.principal)
  return reply.type === 'error' ? reply.reason : reply.type
}

describe('system intents', () => {
  it('K2: refused or accepted, each of them leaves a ledger that verifies, replays and reopens', {
    timeout: testMs(240_000)
  }, async () => {
    const said = new Map<string, Set<string>>()
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 4, maxLength: 24 }), async (all) => {
        const directory = await mkdtemp(join(tmpdir(), 'tally-system-'))
        const open = () =>
          createRuntime({
            location: join(directory, 'ledger'),
            create: 'if-absent',
            insecurePlaintextKey: true,
            serve: false
          })
        try {
          const tally = await open()
          for (const [n, one] of all.entries()) {
            const reason = await done(tally, { ...one, n })
            said.set(one.action, (said.get(one.action) ?? new Set()).add(reason))
          }
          await tally.close()
          const again = await open()
          expect(again.status()).toMatchObject({ mode: 'ready', warnings: [] })
          const report = await again.replay()
          expect(report.failure).toBeUndefined()
          await again.close()
        } finally {
          await rm(directory, { recursive: true, force: true })
        }
      }),
      {
        numRuns: cases({ usual: 10, long: 14, soak: 200 }),
        examples: [
          [
            [
              {
                action: 'system.upgrade',
                payload: { to: { kernel: '9.9.9' } },
                principal: { kind: 'owner', id: 'owner' },
                road: 'alone'
              },
              {
                action: 'system.upgrade',
                payload: { to: { ...programVersions } },
                principal: { kind: 'owner', id: 'owner' },
                road: 'step'
              }
            ]
          ]
        ]
      }
    )
    // The property has seen both answers of what a version decides.
    const upgrades = [...(said.get('system.upgrade') ?? [])]
    expect(upgrades).toEqual(expect.arrayContaining(['done', 'other_versions']))
  })
})
