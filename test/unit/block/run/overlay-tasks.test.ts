import { describe, expect, it } from 'vitest'
import { leafTable } from '../../../../src/block/chart/leaf.js'
import type { Delivery, PumpCommand } from '../../../../src/block/chart/protocol.js'
import type { CancelAsked } from '../../../../src/block/run/entries.js'
import {
  blockOf,
  cancelEvent,
  compensationBlock,
  compensationTask,
  deferredResult,
  deferredTask,
  endCode,
  isDeferredTask,
  isOverlayTask,
  OverlayTasks,
  outboxOf,
  putOff
} from '../../../../src/block/run/overlay-tasks.js'
import { defineBlock } from '../../../../src/code/block.js'
import type { Response } from '../../../../src/code/request.js'
import { hashJson, limits, sha256Hex } from '../../../../src/core/index.js'
import { failed, succeeded, testRequest } from '../../../support/fake-pump.js'
import { runId } from '../../../support/run-of-test.js'

/** C4: what an overlay leaves to be done, one task after the other. */

const hash = sha256Hex('hash')
const receipt = sha256Hex('receipt')
const table = leafTable({ repair: () => undefined })
const around = testRequest({ order: 1 })
const cancel: CancelAsked = { k: 'cancel', run: runId, n: 9, at: 50, reason: 'stop', by: null }
const keyOf = (seq: number) => sha256Hex(`key ${seq}`)

function undoing(seq: number, sideEffects: 'idempotent' | 'non_idempotent' = 'non_idempotent') {
  const place = { run: runId, n: seq, at: 1, path: 'root/pay', step: 2, attempt: 3, seq }
  const named = { effect: 'pay', requestHash: hash }
  const asked = { k: 'requested', ...place, ...named, sideEffects, key: keyOf(seq) } as const
  const undo = { effect: 'refund', request: { id: seq }, sideEffects }
  const answer = { responseHash: hash, salt: hash, ok: true, body: null, undo }
  return compensationTask({ asked, sealed: { k: 'sealed', ...place, ...named, ...answer } }, around)
}

function putOffStep(name: string, options: object = {}) {
  const place = { path: `root/${name}`, step: 4, attempt: 1 }
  const asked = { kind: 'attempt', ...place, block: name, provider: null } as const
  const request = { ...testRequest({ step: name }), context: { locale: 'en' } }
  return { ...asked, request, options, sideEffects: 'idempotent' } as const
}

/** Tasks under way, and what they have asked for. */
function begun(
  tasks: readonly ReturnType<typeof undoing>[],
  more: { readonly cancel?: CancelAsked } = {}
) {
  const asks: PumpCommand[] = []
  const all = new OverlayTasks({ table, tasks, at: 10, ask: (ask) => asks.push(ask), ...more })
  const said = () => asks.splice(0).map((ask) => `${ask.kind} ${ask.path}`)
  const settle = (response: Response, sent = true) =>
    all.deliver({ type: 'attempt.settled', response, at: 20, sent })
  return { all, asks, said, settle }
}

const waits = (reason: string, sent: boolean): Delivery =>
  ({
    ...{ type: 'attempt.waiting', sent, at: 30 },
    wait: { reason, request: null, actions: ['resume'] }
  }) as never
const refund = (seq: number) => `root/pay~undo.3.${seq}`

describe('a task of an overlay', () => {
  it('C4: has a path that no node has', () => {
    expect(['root/pay~undo.1.1', 'root/a~release', 'root/pay'].map(isOverlayTask)).toEqual([
      true,
      true,
      false
    ])
    expect(['root/a~release', 'root/a~release.b', 'root/pay~undo.1.1'].map(isDeferredTask)).toEqual(
      [true, false, false]
    )
  })

  it.each([
    ['non_idempotent', { sideEffects: 'non_idempotent' }],
    [
      'idempotent',
      {
        sideEffects: 'idempotent',
        recovery: [
          {
            kind: 'retry',
            maxAttempts: limits.COMPENSATION_ATTEMPTS_MAX,
            intervalMs: limits.COMPENSATION_RETRY_MS,
            backoff: 'exp'
          }
        ]
      }
    ]
  ] as const)('C4: undoes a write, with its key and what landed: %s', (sideEffects, options) => {
    const path = refund(7)
    const block = 'tally.compensation'
    const undoes = { path: 'root/pay', step: 2, seq: 7, effect: 'pay', key: keyOf(7) }
    expect(undoing(7, sideEffects)).toEqual({
      identity: { path, node: path, block, sideEffects },
      undoes: keyOf(7),
      execute: {
        type: 'block.execute',
        step: 2,
        options,
        request: {
          payload: { undoes, effect: 'refund', request: { id: 7 }, sideEffects },
          context: {},
          metadata: {
            ...around.metadata,
            id: `run-1:${path}:2`,
            spanId: `${path}:2`,
            blockName: block,
            attempt: 1,
            sideEffectClass: sideEffects
          }
        }
      }
    })
  })

  it('C4: does a step that was put off, which was confirmed before and has no deadline', () => {
    const options = { deferred: true, confirm: {}, deadline: 9, timeoutMs: 5, onError: 'stop' }
    const ask = putOffStep('mail', options)
    const { identity, execute, undoes } = deferredTask(ask as never, receipt)
    const path = 'root/mail~release'
    const sideEffects = 'idempotent'
    expect(identity).toEqual({ path, node: path, block: 'mail', sideEffects })
    expect(undoes).toBeNull()
    expect(execute.options).toEqual({ timeoutMs: 5, onError: 'ask', sideEffects })
    expect(execute.step).toBe(4)
    expect(execute.request).toMatchObject({
      payload: { step: 'mail' },
      context: { locale: 'en' },
      metadata: { parentReceipt: receipt, id: `run-1:${path}:4`, blockName: 'mail' }
    })
  })

  it('C4: is named by the commit that sets it free', () => {
    const payloadHash = hashJson({ step: 'mail' })
    const named = { path: 'root/mail', step: 4, block: 'mail', payloadHash }
    expect(outboxOf([putOffStep('mail')])).toEqual([named])
  })
})

describe('the tasks of an overlay', () => {
  it('C4: are over at once where there are none', () => {
    const { all, said } = begun([])
    expect([all.isOver, all.isAt('root'), all.parentReceipt, said()]).toEqual([
      true,
      false,
      undefined,
      []
    ])
    all.deliver({ type: 'timer.fired', at: 11 })
    expect(said()).toEqual([])
  })

  it('C4: are done one after the other, and say what was undone', () => {
    const { all, asks, said, settle } = begun([undoing(1), undoing(2), undoing(3)])
    expect(asks[0]).toMatchObject({ kind: 'attempt', attempt: 1, step: 2 })
    expect(said()).toEqual([`attempt ${refund(1)}`])
    expect([all.isOver, all.isAt(refund(1)), all.isAt(refund(2))]).toEqual([false, true, false])
    settle(succeeded(1))
    expect(said()).toEqual([`attempt ${refund(2)}`])
    settle(failed('boom'))
    const { reason: _, ...unsaid } = failed('boom')
    settle(unsaid)
    expect([1, 2, 3, 4].map((seq) => all.undone(keyOf(seq)))).toEqual([
      null,
      'boom',
      'failed',
      undefined
    ])
    expect([all.isOver, all.notDone]).toEqual([true, []])
  })

  it('C4: try an idempotent compensation again, as often as its limit', () => {
    const { all, said, settle } = begun([undoing(1, 'idempotent')])
    for (let attempt = 1; attempt < limits.COMPENSATION_ATTEMPTS_MAX; attempt += 1) {
      settle(failed('down'))
      all.deliver({ type: 'timer.fired', at: 40 })
    }
    expect(said()).toEqual([
      ...[`attempt ${refund(1)}`, `timer ${refund(1)}`, `attempt ${refund(1)}`],
      ...[`timer ${refund(1)}`, `attempt ${refund(1)}`]
    ])
    settle(failed('down'))
    expect([all.isOver, all.undone(keyOf(1))]).toEqual([true, 'down'])
  })

  it('C4: ask a person about a step that fails for good, and name it when it is skipped', () => {
    const { all, said, settle } = begun([deferredTask(putOffStep('mail') as never, receipt)])
    expect(all.parentReceipt).toBe(receipt)
    settle(failed('down'))
    expect(said()).toEqual(['attempt root/mail~release', 'decision root/mail~release'])
    all.deliver({ type: 'decision.made', action: 'skip', at: 30 })
    const path = 'root/mail~release'
    const key = hashJson({ step: 'mail' })
    expect(all.notDone).toEqual([
      { path, step: 4, effect: 'mail', key, state: 'not_done', reason: 'skipped' }
    ])
    expect(all.isOver).toBe(true)
  })

  it('C4: have nothing to name of a step that is done', () => {
    const { all, settle } = begun([deferredTask(putOffStep('mail') as never, receipt)])
    settle(succeeded(1))
    expect([all.isOver, all.notDone]).toEqual([true, []])
  })
})

describe('the tasks of an overlay in a cancelled run', () => {
  const steps = () =>
    ['mail', 'note'].map((name) => deferredTask(putOffStep(name) as never, receipt))
  const reasons = ({ notDone }: OverlayTasks) =>
    notDone.map(({ effect, state, reason }) => `${effect} ${state} ${reason}`)

  it('W9: begin no step that was put off, and every compensation', () => {
    const { all, said } = begun([...steps(), undoing(1)], { cancel })
    expect(reasons(all)).toEqual(['mail not_done cancelled', 'note not_done cancelled'])
    expect([all.isOver, said()]).toEqual([false, [`attempt ${refund(1)}`]])
    expect(begun(steps(), { cancel }).all.isOver).toBe(true)
  })

  it('W9: let the one under way end its attempt, and begin no other step', () => {
    const { all, said, settle } = begun(steps())
    all.cancel(cancel)
    expect([all.isOver, said()]).toEqual([false, ['attempt root/mail~release']])
    settle(succeeded(1))
    expect([all.isOver, reasons(all)]).toEqual([true, ['note not_done cancelled']])
  })

  it('W9: ask no person about a step that fails, which may have done something', () => {
    for (const sent of [true, false]) {
      const { all, settle } = begun(steps())
      all.cancel(cancel)
      settle(failed('down'), sent)
      const state = sent ? 'in_doubt' : 'not_done'
      expect([all.isOver, reasons(all)]).toEqual([
        true,
        [`mail ${state} cancelled`, 'note not_done cancelled']
      ])
    }
  })

  it('W9: end what waits for a person when the cancel comes, with its reason', () => {
    const { all, said, settle } = begun(steps())
    settle(failed('down'), false)
    said()
    all.cancel(cancel)
    expect(said()).toEqual(['cancel root/mail~release'])
    expect(all.isOver).toBe(true)
    const other = begun([undoing(1), undoing(2)])
    other.all.deliver(waits('confirmation', false))
    other.said()
    other.all.cancel(cancel)
    expect(other.said()).toEqual([`cancel ${refund(1)}`, `attempt ${refund(2)}`])
    expect(other.all.undone(keyOf(1))).toBe('cancelled')
  })

  it('W9: wait for the outcome of what a step has sent, and for no other time', () => {
    for (const [reason, sent, isOver] of [
      ['poll', true, false],
      ['poll', false, true],
      ['external', true, true]
    ] as const) {
      const { all } = begun(steps())
      all.cancel(cancel)
      all.deliver(waits(reason, sent))
      expect([reason, sent, all.isOver]).toEqual([reason, sent, isOver])
    }
  })

  it('W9: try a compensation as often as ever, and wait for no person with it', () => {
    const { all, said, settle } = begun([undoing(1, 'idempotent')], { cancel })
    settle(failed('down'))
    expect([said(), all.isOver]).toEqual([[`attempt ${refund(1)}`, `timer ${refund(1)}`], false])
    all.deliver({ type: 'timer.fired', at: 40 })
    all.deliver(waits('poll', true))
    expect([all.isOver, all.undone(keyOf(1))]).toEqual([true, 'cancelled'])
  })

  it('W9: forget with each task what the one before it has sent', () => {
    const { all, settle } = begun([undoing(1), ...steps()])
    settle(succeeded(1), true)
    settle(failed('down'), false)
    all.cancel(cancel)
    expect(reasons(all)).toEqual(['mail not_done cancelled', 'note not_done cancelled'])
  })

  it('W9: hear of the cancel as blocks do, at the time of what they hear', () => {
    const event = { type: 'block.cancel', reason: 'stop', at: 70 }
    expect(cancelEvent(cancel, 70)).toEqual(event)
  })
})

describe('what stands for a step', () => {
  const named = defineBlock({
    name: 'mail',
    version: '1.0.0',
    sideEffects: 'none',
    run: () => 'sent'
  })

  it('C4: that is put off, answers that it is, whatever its code would', () => {
    const block = putOff({ ...named, kernel: {} as never, parseOutput: () => ({}) as never })
    expect(block.run({} as never, null)).toBe(deferredResult)
    expect(deferredResult).toEqual({ deferred: true })
    expect(block.parseOutput(deferredResult)).toEqual({ ok: true, value: deferredResult })
    expect([block.codeHash, block.kernel, Object.isFrozen(block)]).toEqual([
      named.codeHash,
      undefined,
      true
    ])
  })

  it('C3: is the provider of a fallback, unless the kernel or a compensation does it', () => {
    const kernel = { ...named, kernel: {} as never }
    const other = { ...named, name: 'other' }
    const find = (block: string, provider: string | null) =>
      blockOf(
        { block, provider, sideEffects: 'none' },
        (name) => ({ mail: named, kernel, other })[name]
      )
    expect(find('mail', null)).toBe(named)
    expect(find('mail', 'other')).toBe(other)
    expect(find('mail', 'none')).toBeUndefined()
    expect(find('none', null)).toBeUndefined()
    expect(find('none', 'other')).toBe(other)
    expect(find('kernel', 'other')).toBe(kernel)
    expect(find('tally.compensation', 'other')).toBe(compensationBlock)
  })

  it('C4: is one effect, where it undoes a write', async () => {
    const input = { undoes: {}, effect: 'refund', request: 1, sideEffects: 'none' }
    const calls: unknown[] = []
    const effect = (...call: unknown[]) => calls.push(call)
    await compensationBlock.run({ effect } as never, input)
    expect(calls).toEqual([['refund', { request: 1, sideEffects: 'none' }]])
    expect(compensationBlock.parseInput(input)).toMatchObject({ ok: true })
    expect(compensationBlock.parseInput({ ...input, effect: 1 })).toMatchObject({ ok: false })
    expect([compensationBlock.isInputPrivate, compensationBlock.isOutputPrivate]).toEqual([
      true,
      true
    ])
  })

  it('C4: ends as its composite does, or is named as not done', () => {
    const { reason: _, ...unsaid } = failed('boom')
    expect(endCode({ outcome: 'aborted', response: failed('boom') })).toBe('boom')
    expect(endCode({ outcome: 'aborted', response: unsaid })).toBe('failed')
    expect(endCode({ outcome: 'released', response: failed('boom') })).toBe('deferred_not_done')
  })
})
