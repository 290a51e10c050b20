import { describe, expect, it } from 'vitest'
import {
  attributionOf,
  bare,
  begun,
  committed,
  completedUnit,
  leafUnit,
  overlayUnit,
  runUnitId,
  seedOf,
  singleStepUnitId,
  unitContextOf,
  unitIdOf
} from '../../../../src/block/run/unit.js'
import { canonicalize, hashJson, type Json, sha256Hex } from '../../../../src/core/index.js'
import { failed, succeeded, testRequest } from '../../../support/fake-pump.js'
import {
  leafWork,
  overlayAt,
  workAttribution,
  workBlock,
  workHash,
  workReference,
  workSeed
} from '../../../support/leaf-work.js'
import { identity, RunOfTest, runId } from '../../../support/run-of-test.js'

/** L6: what receipts are made of, member by member. */

const profile = { node: '20' }

const context = unitContextOf(new RunOfTest().state, profile)
const asked = { path: 'root/pay', step: 2, attempt: 3, at: 5 }
const contextHash = hashJson(testRequest(null).context)

describe('the id of a unit of work', () => {
  it('L6: is the hash of its place, and the run has one of its own', () => {
    expect(unitIdOf(runId, 'root/é"', 3)).toBe(hashJson([runId, 'root/é"', 3]))
    expect(runUnitId(runId)).toBe(hashJson([runId, 'root', 0]))
    expect(singleStepUnitId(runId)).toBe(hashJson([runId, 'root', 1]))
    expect(seedOf(workHash, runUnitId(runId))).toBe(
      sha256Hex(`tallystick/prng${workHash}${runUnitId(runId)}`)
    )
  })
})

describe('what receipts of a run have in common', () => {
  it('L6: is how it began, and a run that has not begun has none', () => {
    const { state } = new RunOfTest()
    const { root } = state
    const principal = { kind: 'owner' }
    const common = { runId, root, identity, base: 'GENESIS', principal, profile }
    expect(unitContextOf(state, profile)).toEqual({ ...common, trace: undefined })
    expect(() => begun(undefined)).toThrow('a run begins with run.started')
  })

  it('B1: is the hash of a context that is not empty', () => {
    expect([committed({}), committed({ context: {} })]).toEqual([{}, {}])
    expect(committed({ context: { a: 1 } })).toEqual({ contextHash: hashJson({ a: 1 }) })
  })

  it('D6: is a response without the ids that can be derived again', () => {
    const response = { ...failed('boom'), metadata: { id: 1 } }
    expect(bare(response)).toEqual(failed('boom'))
  })
})

describe('the unit of a leaf', () => {
  it('L6: is of its block, and says what it used and gave', () => {
    const one = leafWork('root/pay')
    const unit = {
      id: one.unitId,
      action: 'pay',
      dappId: 'block:pay@2.0.0',
      payloadText: '{"a":1}',
      payloadPrivate: true,
      at: 5,
      seed: workSeed,
      principal: { kind: 'owner' },
      run: { runId, ...asked, contextHash },
      provider: { kind: 'declared', id: 'pay@2.0.0', codeHash: workBlock.codeHash, profile },
      capabilitiesDeclared: ['look'],
      capabilitiesUsed: ['look'],
      sealed: [workReference],
      resultText: '2',
      resultPrivate: false,
      reads: one.view.reads,
      lists: one.view.lists,
      writes: one.view.writes
    }
    expect(leafUnit(one, context, '{"a":1}', '2')).toEqual(unit)
    const trace = { traceId: 'trace' }
    expect(leafUnit(one, { ...context, trace }, '{"a":1}', '2').run).toEqual({ ...unit.run, trace })
    const request = testRequest({ a: 1 })
    const metadata = { ...request.metadata, parentReceipt: workHash }
    const late = { ...one, ask: { ...one.ask, request: { ...request, metadata } } }
    expect(leafUnit(late, context, '{"a":1}', '2').run).toEqual({ ...unit.run, parent: workHash })
  })

  it('K5: is of the provider that the kernel chose, with its own profile and text', () => {
    const { id: _, ...unit } = leafUnit(
      leafWork('root/pay', { attribution: workAttribution }),
      context,
      '{}',
      '2'
    )
    expect(unit).toMatchObject({
      action: 'intent.pay',
      dappId: 'wallet@1',
      payloadText: '{"to":"alice"}',
      payloadPrivate: false,
      resultPrivate: true,
      provider: { ...workAttribution.provider, profile: { engine: 1 } },
      capabilitiesDeclared: ['chain'],
      capabilitiesUsed: ['look'],
      raw: 'pay alice'
    })
    const { profile: __, raw: ___, ...less } = workAttribution
    const other = leafUnit(leafWork('root/pay', { attribution: less }), context, '{}', '2')
    expect(other.provider.profile).toEqual(profile)
    expect(other).not.toHaveProperty('raw')
    expect(attributionOf(workBlock, '{}')).toMatchObject({
      isInputPrivate: true,
      payloadText: '{}'
    })
  })
})

describe('the unit of an overlay', () => {
  it('C4: is one, of all that its children did', () => {
    const overlay = overlayAt('root')
    overlay.collect(leafWork('root/one', { capabilitiesUsed: ['b', 'a'] }), succeeded(1))
    overlay.collect(leafWork('root/two', { attribution: workAttribution }), succeeded(2))
    const compositeAt = () => ({ version: '1.0.0', definitionHash: workHash })
    const root = { ...context.root, compositeAt }
    const options = { id: runUnitId(runId), seed: workSeed, payloadText: '{}', resultText: '1' }
    expect(overlayUnit(overlay, { ...context, root, trace: { traceId: 't' } }, options)).toEqual({
      ...options,
      action: 'all',
      dappId: 'composite:all@1.0.0',
      payloadPrivate: true,
      at: 6,
      principal: { kind: 'owner' },
      run: {
        runId,
        path: 'root',
        step: 1,
        attempt: 4,
        at: 6,
        contextHash,
        trace: { traceId: 't' }
      },
      provider: { kind: 'composite', id: 'all@1.0.0', codeHash: workHash, profile },
      capabilitiesDeclared: ['chain', 'look'],
      capabilitiesUsed: ['a', 'b', 'look'],
      sealed: [workReference, workReference],
      resultPrivate: true,
      reads: overlay.view.reads,
      lists: overlay.view.lists,
      writes: overlay.view.writes
    })
  })
})

describe('the unit of a run', () => {
  it('L6: commits to its definition, input, journal and receipts', () => {
    const run = new RunOfTest()
    const { state } = run
    run.apply({ k: 'cancel', at: 9, reason: 'stop', by: null }, sha256Hex('receipt'))
    const { root } = state
    const id = runUnitId(runId)
    const { definitionHash } = root
    const commits: Json = {
      name: 'pay',
      version: root.version,
      definitionHash,
      inputHash: sha256Hex('null'),
      journalHash: state.journalHash,
      receipts: { count: 1, root: state.receipts.root() }
    }
    const unit = completedUnit(state, '{"n":1}', unitContextOf(state, profile))
    const { reads, lists, writes, ...rest } = unit
    expect([reads.size, lists.size, writes.size]).toEqual([0, 0, 0])
    expect(rest).toEqual({
      id,
      action: 'run.completed',
      dappId: `composite:pay@${root.version}`,
      payloadText: canonicalize(commits),
      payloadPrivate: false,
      at: 9,
      seed: { base: 'GENESIS', value: seedOf('GENESIS', id) },
      principal: { kind: 'owner' },
      run: { runId, path: 'root', step: 0, attempt: 1, at: 9 },
      provider: {
        kind: 'composite',
        id: `pay@${root.version}`,
        codeHash: definitionHash,
        profile
      },
      capabilitiesDeclared: [],
      capabilitiesUsed: [],
      sealed: [],
      resultText: '{"n":1}',
      resultPrivate: false
    })
  })
})
