import { describe, expect, it } from 'vitest'
import { verifyLedgerDeep } from '../../src/audit/index.js'
import type { Evidence } from '../../src/ledger/index.js'
import { Registry } from '../../src/runtime/code/registry.js'
import { compensatedBlocks, compensationDocuments } from '../support/compensation-scenario.js'
import { crashEverywhere } from '../support/crash-everywhere.js'
import { cases, isSoak, isTaken } from '../support/effort.js'
import { testKeys } from '../support/lives.js'
import { agreeable, type Decide, runScenario, type Scenario } from '../support/run-to-end.js'

function scenario(name: string) {
  const document = compensationDocuments[name]
  if (document === undefined) throw new Error(name)
  return { document, inputs: {}, registrations: compensatedBlocks }
}

/** A run to its end, with what it left. */
async function ended(given: string | Scenario) {
  const evidence: Evidence[] = []
  const outcome = await runScenario({
    ...(typeof given === 'string' ? scenario(given) : given),
    opened: ({ ledger }) => {
      const close = ledger.close.bind(ledger)
      ledger.close = async () => {
        // Closing what is closed changes nothing, and is done twice.
        evidence.length = 0
        for await (const record of ledger.log()) {
          if (record.kind === 'evidence') evidence.push(record.evidence)
        }
        await close()
      }
    }
  })
  const { result, receipts, state, machine } = outcome
  const code = await Registry.open(compensatedBlocks(machine.world))
  const { identity } = testKeys
  const report = await verifyLedgerDeep({ store: machine.disk.open(), identity, code })
  expect(report.failure).toBeUndefined()
  const deeds = machine.world.deeds.map(({ request }) => Object.keys(JSON.parse(request))[0])
  return { result, receipts, state, evidence, deeds, intents: receipts.map(({ intent }) => intent) }
}

const status = async (name: string) => (await ended(name)).result.status

describe('compensations', () => {
  it('C4: undo what was done outside, the last first, with a receipt for each', async () => {
    const { intents, deeds, result, state, evidence } = await ended('two writes that are undone')
    expect(result.status).toBe('failed')
    expect(deeds).toEqual(['reserves', 'reserves', 'effect', 'releases'])
    expect(intents).toEqual(['tally.compensation', 'tally.compensation'])
    expect(state).toBe('[]')
    expect(evidence).toMatchObject([
      { type: 'abort', code: 'boom', landed: [] },
      { type: 'failure' }
    ])
    expect(JSON.stringify(evidence[0]?.details)).not.toContain('left')
  })

  it('C4: are what the provider says when the block says nothing', async () => {
    const { deeds, intents, evidence } = await ended('a write that its provider undoes')
    expect(deeds).toEqual(['charges', 'refunds'])
    expect(intents).toEqual(['tally.compensation'])
    expect(evidence).toMatchObject([{ type: 'abort', landed: [] }, { type: 'failure' }])
  })

  it('C4: undo the write of a step that failed after it', async () => {
    const { deeds, result, evidence } = await ended('a step that fails after its write')
    expect(result.status).toBe('done')
    expect(deeds).toEqual(['reserves', 'reserves', 'effect', 'releases'])
    expect(evidence).toMatchObject([{ type: 'abort', code: 'after_acting', landed: [] }])
  })

  it('C4: let a composite run again, whatever its class, once all is undone', async () => {
    const { deeds, result } = await ended('a rollback that is tried again')
    expect(result.status).toBe('done')
    expect(deeds).toEqual(['reserves', 'releases', 'reserves', 'releases'])
  })

  it('C4: name in the evidence whatever landed and was not undone', async () => {
    const { deeds, evidence, state } = await ended('compensations that fail or are not known')
    expect(deeds).toEqual(['reserves', 'reserves', 'reserves', 'releases'])
    expect(state).toBe('[]')
    const [abort] = evidence
    expect(abort?.landed).toHaveLength(2)
    expect(abort?.details).toMatchObject({
      left: [
        { path: 'root/trip/flight', effect: 'reserve', state: 'landed', reason: 'too_late' },
        { path: 'root/trip/visa', effect: 'reserve', state: 'landed', reason: 'irreversible' }
      ]
    })
  })

  it('C4: undo what an inner composite did when it is rolled back, and only that', async () => {
    const { deeds, intents, state } = await ended('an inner rollback inside a commit')
    expect(deeds).toEqual(['reserves', 'reserves', 'effect'])
    expect(intents).toEqual(['tally.compensation', 'trip.trip', 'run.completed'])
    expect(JSON.parse(state)).toEqual([
      ['n', '1'],
      ['reserved', '1']
    ])
  })

  it('C4: undo what an inner composite has committed into one that is rolled back', async () => {
    const { deeds, state } = await ended('a rollback of what an inner one has committed')
    expect(deeds).toEqual(['reserves', 'reserves', 'effect', 'releases'])
    expect(state).toBe('[]')
  })
})

describe('deferred steps', () => {
  it('C4: are done after the commit, with receipts that name it', async () => {
    const { deeds, receipts, intents } = await ended('deferred steps')
    expect(deeds).toEqual(['reserves', 'mails', 'mails'])
    expect(intents).toEqual(['trip.trip', 'mail', 'mail', 'count', 'run.completed'])
    const [parent, ...releases] = receipts
    expect(releases.map(({ inputPayload }) => inputPayload.run?.parent)).toEqual([
      parent?.receiptHash,
      parent?.receiptHash,
      undefined,
      undefined
    ])
    expect(releases[0]?.inputPayload.run?.path).toBe('root/trip/letter~release')
  })

  it('C4: are tried again as their node says', async () => {
    const { deeds, intents, evidence } = await ended('a deferred step with retries')
    expect(deeds).toEqual(['mails'])
    expect(intents).toEqual(['trip.trip', 'mail-later', 'count', 'run.completed'])
    expect(evidence).toEqual([])
  })

  it('C4: wait for a decision when they fail, and leave evidence', async () => {
    const { deeds, evidence, intents } = await ended('a deferred step that is never done')
    expect(deeds).toEqual(['mails'])
    expect(intents).toEqual(['trip.trip', 'mail', 'count', 'run.completed'])
    expect(evidence).toMatchObject([
      { type: 'failure', code: 'no_such_address' },
      { type: 'failure', code: 'deferred_not_done', details: { left: [{ reason: 'skipped' }] } }
    ])
    expect(await status('deferred steps')).toBe('done')
  })
})

/** Cancels instead of deciding about what failed for good, or what is unknown. */
const cancelling: Decide = (wait, world) =>
  wait.reason === 'decision' ? { action: 'cancel' } : agreeable(wait, world)

const cancelled = (name: string) => ({ ...scenario(name), decide: cancelling })

describe('cancelling a run', () => {
  it('C4: begins no more deferred steps, keeps the commit, and names what is not done', async () => {
    const { intents, evidence, result } = await ended(
      cancelled('a deferred step that is never done')
    )
    expect(result).toMatchObject({ status: 'cancelled', response: { reason: 'cancelled' } })
    expect(intents).toEqual(['trip.trip'])
    const left = [
      { path: 'root/trip/letter', state: 'not_done', reason: 'cancelled' },
      { path: 'root/trip/other', state: 'not_done', reason: 'cancelled' }
    ].map((one) => ({ ...one, path: `${one.path}~release` }))
    expect(evidence.at(-2)).toMatchObject({ code: 'deferred_not_done', details: { left } })
  })

  it('C4: a cancelled rollback continues, and waits for no person', async () => {
    const { deeds, evidence, result } = await ended(
      cancelled('a compensation with an unknown outcome')
    )
    expect(result.status).toBe('cancelled')
    expect(deeds).toEqual(['reserves', 'reserves', 'effect', 'releases'])
    const left = [{ path: 'root/trip/flight', state: 'landed', reason: 'cancelled' }]
    expect(evidence[0]).toMatchObject({ type: 'abort', code: 'boom', details: { left } })
  })

  it.each(['a deferred step that is never done', 'a compensation with an unknown outcome'])(
    'C4, L7: a crash at any boundary changes nothing of %s',
    async (name) => {
      const at = (boundary: number) => isTaken(boundary, 3)
      expect(await crashEverywhere(cancelled(name), { at })).toBeGreaterThan(4)
    }
  )
})

/** Deaths for each document, spread evenly; in the soak one for each boundary. */
const DEATHS = cases({ usual: 2, long: 7 })

describe('a crash at the boundaries', () => {
  for (const name of Object.keys(compensationDocuments)) {
    it(`C4, L6, L7: changes nothing for ${name}`, async () => {
      const at = (boundary: number, boundaries: number) =>
        isSoak || boundary % Math.ceil(boundaries / DEATHS) === 0
      expect(await crashEverywhere(scenario(name), { at })).toBeGreaterThan(4)
    })
  }
})
