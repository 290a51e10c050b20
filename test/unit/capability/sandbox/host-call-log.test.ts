import { describe, expect, it } from 'vitest'
import {
  ABI_VERSIONS,
  isAbiVersion,
  sandboxProfile
} from '../../../../src/capability/sandbox/abi.js'
import { HostCallLog } from '../../../../src/capability/sandbox/host-call-log.js'
import type { RunMessage } from '../../../../src/capability/sandbox/protocol.js'

/** X4: what a guest asks for is decided, counted and kept outside of it. */

const state: Readonly<Record<string, string>> = { seen: '"é"' }
const all = ['storage.read', 'storage.write', 'wallet.send'] as const

function begun(more: { granted?: readonly string[]; hostCalls?: number; hostBytes?: number } = {}) {
  const { granted = all, hostCalls = 100, hostBytes = 10_000 } = more
  const asked: string[] = []
  const log = new HostCallLog((key) => {
    asked.push(key)
    const text = state[key]
    return text === undefined ? {} : { text }
  })
  const begin = () =>
    log.begin({ granted, limits: { hostCalls, hostBytes } } as never as RunMessage)
  begin()
  return { log, asked, begin }
}

const nothing = {
  ending: { kind: 'pending' },
  calls: [],
  writes: [],
  used: [],
  denied: [],
  gasTicks: 7
}

describe('the log of what a guest asks for', () => {
  it('X4: has nothing before the first call, and serves nothing before it is begun', () => {
    expect(begun().log.report(7)).toEqual(nothing)
    const { log } = begun()
    const idle = new HostCallLog(() => ({}))
    expect(idle.report(7)).toEqual(nothing)
    expect(idle.answer('effect', 'wallet.send', '')).toBe('')
    expect(idle.exceeded).toBe('host_bytes_exceeded')
    expect(log.exceeded).toBeUndefined()
  })

  it('X4: answers what is granted, and keeps it in the order of the calls', () => {
    const { log, asked } = begun()
    expect(log.answer('read', 'seen', '')).toBe('="é"')
    expect(log.answer('read', 'absent', '')).toBe('')
    expect(log.answer('write', 'b', '1')).toBe('')
    expect(log.answer('write', 'a', '2')).toBe('')
    expect(log.answer('delete', 'seen', '')).toBe('')
    expect(['a', 'seen'].map((key) => log.answer('read', key, ''))).toEqual(['=2', ''])
    expect(asked).toEqual(['seen', 'absent'])
    expect(log.hasCall(0)).toBe(false)
    expect(log.answer('effect', 'wallet.send', '{"to":1}')).toBe('=0')
    expect(log.answer('effect', 'wallet.send', '{"to":2}')).toBe('=1')
    expect([log.hasCall(0), log.hasCall(1), log.hasCall(2)]).toEqual([true, true, false])
    expect(log.report(7)).toEqual({
      ...nothing,
      calls: [
        { seq: 0, capability: 'wallet.send', text: '{"to":1}' },
        { seq: 1, capability: 'wallet.send', text: '{"to":2}' }
      ],
      writes: [
        ['b', '1'],
        ['a', '2'],
        ['seen', null]
      ],
      used: ['storage.read', 'storage.write', 'wallet.send']
    })
  })

  it('X4: denies what is not granted, does nothing of it, and counts how often', () => {
    const { log, asked } = begun({ granted: ['wallet.read'] })
    for (const [operation, name, capability] of [
      ['write', 'k', 'storage.write'],
      ['delete', 'k', 'storage.write'],
      ['read', 'seen', 'storage.read'],
      ['effect', 'wallet.send', 'wallet.send']
    ] as const) {
      expect(log.answer(operation, name, '1')).toBe(`!${capability} is not granted`)
    }
    expect(log.answer('effect', 'wallet.read', '')).toBe('=0')
    expect(asked).toEqual([])
    expect(log.report(7)).toEqual({
      ...nothing,
      calls: [{ seq: 0, capability: 'wallet.read', text: '' }],
      used: ['wallet.read'],
      denied: [
        { capability: 'storage.read', times: 1 },
        { capability: 'storage.write', times: 2 },
        { capability: 'wallet.send', times: 1 }
      ]
    })
  })

  it.each([
    ['done', { kind: 'done', text: 'said' }],
    ['thrown', { kind: 'thrown', name: 'name', message: 'said' }],
    ['unfit', { kind: 'unfit', name: 'name', message: 'said' }]
  ])('X4: keeps the first ending of a guest: %s', (operation, ending) => {
    const { log } = begun({ hostCalls: 0 })
    expect(log.answer(operation, 'name', 'said')).toBe('')
    for (const other of ['done', 'thrown', 'unfit']) log.answer(other, 'x', 'y')
    log.end({ kind: 'not_loaded', name: 'x', message: 'y' })
    // An ending is no call of the host.
    expect(log.report(7)).toEqual({ ...nothing, ending })
  })

  it('X4: counts calls up to the limit, and serves none beyond it', () => {
    const { log } = begun({ hostCalls: 2 })
    expect(log.answer('write', 'a', '1')).toBe('')
    expect(log.answer('effect', 'wallet.send', '')).toBe('=0')
    expect(log.exceeded).toBeUndefined()
    expect(log.answer('effect', 'wallet.send', '')).toBe('')
    expect(log.exceeded).toBe('host_calls_exceeded')
    expect(log.report(7)).toMatchObject({ exceeded: 'host_calls_exceeded', calls: [{ seq: 0 }] })
  })

  it('X4: counts the bytes of names, texts and values, up to the limit', () => {
    const { log } = begun({ hostBytes: 12 })
    // "read", of 4 bytes, has no part in it.
    log.answer('read', 'seen', '')
    expect(log.exceeded).toBeUndefined()
    log.countBytes('é', 'é')
    expect(log.exceeded).toBeUndefined()
    expect(log.answer('write', 'a', '')).toBe('')
    expect(log.exceeded).toBe('host_bytes_exceeded')
    expect(log.report(7).writes).toEqual([])
  })

  it('X4: names the first limit that is exceeded', () => {
    const { log } = begun({ hostCalls: 0 })
    log.exceed('memory_exceeded')
    log.answer('read', 'seen', '')
    log.exceed('gas_exceeded')
    expect(log.exceeded).toBe('memory_exceeded')
  })

  it('X1: begins anew with each execution', () => {
    const { log, begin } = begun({ granted: ['storage.write', 'wallet.send'], hostCalls: 4 })
    for (const operation of ['write', 'read', 'effect', 'done']) {
      log.answer(operation, operation === 'effect' ? 'wallet.send' : 'k', 'x'.repeat(2_000))
    }
    log.exceed('gas_exceeded')
    begin()
    expect(log.report(7)).toEqual(nothing)
    for (let call = 0; call < 4; call += 1) log.answer('write', 'k', 'x'.repeat(2_000))
    expect(log.exceeded).toBeUndefined()
  })

  it('X4: says where a guest diverged from what was recorded, and how its engine failed', () => {
    const { log } = begun()
    expect(log.report(7, 0)).toEqual({ ...nothing, divergedAt: 0 })
    expect(log.report(7, undefined, 'trap')).toEqual({ ...nothing, engineFault: 'trap' })
  })
})

describe('the versions of the interface', () => {
  it('X1: are those that are known, and have a profile each', () => {
    expect(ABI_VERSIONS.every(isAbiVersion)).toBe(true)
    expect(['tally-abi/0', '', undefined, null].some(isAbiVersion)).toBe(false)
    expect(sandboxProfile('tally-abi/2')).toEqual({
      abi: 'tally-abi/2',
      wasm: expect.stringMatching(/^[0-9a-f]{64}$/)
    })
  })
})
