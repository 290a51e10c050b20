import { describe, expect, it } from 'vitest'
import { Xorshift128 } from '../../../../src/core/index.js'
import { committedVectors } from '../../../support/vectors.js'
import { NOW_MS, runs, sandboxOfFile } from '../guest.js'

const { execute, result } = sandboxOfFile()

describe('the scoped API', () => {
  it('is frozen, and has only what is declared', async () => {
    const body = `
      const names = Object.keys(api).sort()
      const problems = []
      for (const change of [() => { api.now = 1 }, () => { api.storage.get = 1 },
        () => { delete api.storage }, () => { api.extra = 1 }, () => { intent.payload.x = 1 }]) {
        try { change() } catch (error) { problems.push(error.name) }
      }
      return { names, storage: Object.keys(api.storage).sort(), problems,
        bridge: typeof api.bridge, constructor: typeof api.constructor }`
    expect(await result(body)).toEqual({
      names: ['contacts', 'messages', 'network', 'now', 'random', 'storage', 'uuid', 'wallet'],
      storage: ['delete', 'get', 'has', 'set'],
      problems: ['TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError'],
      bridge: 'undefined',
      constructor: 'undefined'
    })
  })

  it('reads and writes below the prefix of the package and nowhere else', async () => {
    const asked: string[] = []
    const outcome = await execute(
      runs(`const before = api.storage.get('../other/count')
        api.storage.set('count', { b: 1, a: before })
        api.storage.set('gone', 1)
        api.storage.delete('gone')
        return [api.storage.get('count'), api.storage.has('gone'), api.storage.has('count')]`),
      {
        read: (key) => {
          asked.push(key)
          return key === 'packages/guest/../other/count' ? '7' : undefined
        }
      }
    )
    expect(asked).toEqual(['packages/guest/../other/count'])
    expect(outcome).toMatchObject({
      kind: 'done',
      resultText: '[{"a":7,"b":1},false,true]',
      used: ['storage.read', 'storage.write']
    })
    expect(outcome.kind === 'done' && [...outcome.writes]).toEqual([
      ['packages/guest/count', '{"a":7,"b":1}'],
      ['packages/guest/gone', null]
    ])
  })

  it('answers many reads in order', async () => {
    const body = `let wrong = 0
      for (let n = 0; n < 2000; n += 1) if (api.storage.get('k' + n) !== n) wrong += 1
      return wrong`
    const read = (key: string) => key.slice('packages/guest/k'.length)
    expect(await result(body, { read })).toBe(0)
  })

  it.each(['a\\0b', '\\ud800'])(
    'refuses the key "%s", which would cross as another',
    async (key) => {
      expect(await execute(runs(`api.storage.set('${key}', 1)`))).toMatchObject({
        code: 'thrown',
        message: 'InvalidKey: a key holds NUL or a lone surrogate'
      })
    }
  )

  it('fails the execution for a key or a value that the ledger does not keep', async () => {
    expect(await execute(runs(`api.storage.set('', 1)`))).toMatchObject({ code: 'invalid_key' })
    expect(await execute(runs(`api.storage.set('k'.repeat(2000), 1)`))).toMatchObject({
      code: 'invalid_key'
    })
    expect(await execute(runs(`api.storage.set('a', { $x: 1 })`))).toMatchObject({
      code: 'invalid_value'
    })
    expect(await execute(runs(`api.storage.set('a', 2 ** 60)`))).toMatchObject({
      code: 'invalid_value'
    })
  })

  it('records a denied call even when the guest catches the error (K5)', async () => {
    const outcome = await execute(
      runs(`for (let n = 0; n < 3; n += 1) {
          try { await api.wallet.send({ to: 'me' }) } catch (error) {}
        }
        try { api.storage.get('a') } catch (error) { return error.name + ': ' + error.message }`),
      { granted: ['storage.write'] }
    )
    expect(outcome).toMatchObject({
      kind: 'done',
      resultText: '"CapabilityDenied: storage.read is not granted"',
      used: [],
      denied: [
        { capability: 'storage.read', times: 1 },
        { capability: 'wallet.send', times: 3 }
      ]
    })
  })

  it('grants nothing that is not declared', async () => {
    const outcome = await execute(runs('return typeof api.bridge'), { granted: ['bridge.mint'] })
    expect(outcome).toMatchObject({ kind: 'done', resultText: '"undefined"', used: [] })
  })
})

describe('time and chance', () => {
  it('K7: every clock of the guest stands at the frozen time, in UTC', async () => {
    const body = `return [Date.now(), new Date().toISOString(), api.now(),
      new Date().getTimezoneOffset(),
      new Date(2020, 6, 1).getTime(), Date(), typeof performance, typeof Intl]`
    expect(await result(body)).toEqual([
      NOW_MS,
      '2023-11-14T22:13:20.123Z',
      NOW_MS,
      0,
      Date.UTC(2020, 6, 1),
      'Tue Nov 14 2023 22:13:20 GMT+0000',
      'undefined',
      'undefined'
    ])
  })

  it.each(
    committedVectors<{ seed: string; doubles: number[]; uuid: string }>(
      'xorshift128.json',
      () => []
    )
  )('gives the random numbers of core for seed "$seed"', async ({ seed, doubles, uuid }) => {
    const numbers = doubles.map(() => 'Math.random()').join()
    expect(await result(`return [${numbers}]`, { seed })).toEqual(doubles)
    expect(await result('return [api.uuid()]', { seed })).toEqual([uuid])
  })

  it('draws api.random, Math.random and uuid from one source', async () => {
    const source = new Xorshift128('one')
    const expected = [source.random(), source.uuid(), source.random()]
    const body = 'return [api.random(), api.uuid(), Math.random()]'
    expect(await result(body, { seed: 'one' })).toEqual(expected)
  })

  it('has no random numbers and no time while a package loads', async () => {
    expect(await execute('const r = Math.random(); export const run = () => r')).toMatchObject({
      code: 'not_loaded',
      message: 'NotAvailable: no random numbers while a package loads'
    })
    const outcome = await execute('const at = Date.now(); export const run = () => at')
    expect(outcome).toMatchObject({ kind: 'done', resultText: '0' })
  })
})
