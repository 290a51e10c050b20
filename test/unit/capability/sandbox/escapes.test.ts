import { describe, expect, it } from 'vitest'
import { canonicalize, parse } from '../../../../src/core/index.js'
import { runs, sandboxOfFile } from '../guest.js'

const { execute, result } = sandboxOfFile()

/** Values and behaviour of the host that a guest may want to change (T22). */
function primordials(): string {
  const objects = [Object, Array, Function, Promise, String, Error, Map].map((one) => one.prototype)
  return objects.map((one) => Reflect.ownKeys(one).map(String).sort().join()).join('\n')
}

describe('a guest that wants out', () => {
  it.each([
    ['host constructor', `return run.constructor('return typeof process')()`],
    ['constructor of a host function', `return api.now.constructor('return typeof process')()`],
    [
      'constructor of an error',
      `try { api.storage.get() } catch (e) {}
      try { null.x } catch (error) {
        return error.constructor.constructor('return typeof process')()
      }`
    ],
    [
      'constructor of a denied call',
      `try { await api.wallet.send() } catch (error) {
      return error.constructor.constructor('return typeof process')() }`
    ],
    [
      'prototype walk',
      `let at = api; const seen = []
      while (at !== null && at !== undefined) { seen.push(at); at = Object.getPrototypeOf(at) }
      return seen.some((one) => 'process' in one) ? 'object' : 'undefined'`
    ],
    ['generator', `return (function* () {}).constructor('yield typeof process')().next().value`],
    ['indirect eval', `return (0, eval)('typeof process')`],
    [
      'globals',
      `return [typeof process, typeof require, typeof fetch, typeof setTimeout, typeof Buffer,
      typeof WebAssembly, typeof Proxy, typeof SharedArrayBuffer, typeof Atomics]
      .every((type) => type === 'undefined') ? 'undefined' : 'object'`
    ]
  ])('%s: sees nothing of the host', async (_, body) => {
    expect(await result(body, { granted: [] })).toBe('undefined')
  })

  it.each([`import('node:fs')`, `import('file:///etc/passwd')`, `import('./other.js')`])(
    'cannot load %s',
    async (load) => {
      expect(await execute(runs(`return await ${load}`))).toMatchObject({ code: 'thrown' })
    }
  )

  it.each([
    `import fs from 'node:fs'; export const run = () => 1`,
    `export { x as run } from 'other'`
  ])('cannot be a module with imports: %s', async (bundle) => {
    expect(await execute(bundle)).toMatchObject({ code: 'not_loaded', isDeterministic: true })
  })

  it('T22: changes no prototype of the host, and nothing of the next execution', async () => {
    const before = primordials()
    const body = `
      Object.prototype.polluted = 1
      Array.prototype.map = () => 'taken'
      globalThis.kept = 1
      JSON.stringify = () => '"forged"'
      JSON.parse = () => ({})
      Promise.prototype.then = () => {}
      String.prototype.slice = () => 'x'
      return { own: JSON.parse('{"__proto__": {"polluted": 2}}') }`
    expect(await result(body)).toMatchObject({})
    expect(await result('return [typeof kept, typeof ({}).polluted, [1].map((n) => n)]')).toEqual([
      'undefined',
      'undefined',
      [1]
    ])
    expect(primordials()).toBe(before)
    expect('polluted' in {}).toBe(false)
  })

  it.each([
    'globalThis.Promise = class {}',
    'Promise.prototype.then = null',
    'Object.prototype.then = function (f) { f(7) }',
    'Array.prototype[Symbol.iterator] = null',
    'String.prototype.slice = String.prototype.split = () => { throw 1 }',
    'JSON.parse = JSON.stringify = () => { throw 1 }',
    `Object.defineProperty(Object.prototype, 'resolve', { get() { throw 1 } })`
  ])('breaks only itself with %s', async (line) => {
    const outcome = await execute(runs(`${line}; return await api.wallet.send({ a: 1 })`))
    expect(outcome).toMatchObject({ kind: 'call', calls: [{ requestText: '{"a":1}' }] })
    expect(await result('return [1].slice().length')).toBe(1)
  })

  it('hands back "__proto__" as a plain key', async () => {
    const outcome = await execute(
      runs(`return Object.defineProperty({}, '__proto__', { value: { a: 1 }, enumerable: true })`)
    )
    expect(outcome).toMatchObject({ kind: 'done', resultText: '{"__proto__":{"a":1}}' })
    const text = outcome.kind === 'done' ? outcome.resultText : ''
    expect(canonicalize(parse(text))).toBe(text)
  })

  it('keeps one package from the storage and globals of another', async () => {
    const write = await execute(runs(`globalThis.shared = 1; api.storage.set('k', 1)`), {
      id: 'one'
    })
    expect(write.kind === 'done' && [...write.writes.keys()]).toEqual(['packages/one/k'])
    expect(await result('return [typeof shared, api.storage.has("k")]', { id: 'two' })).toEqual([
      'undefined',
      false
    ])
  })
})

describe('results that cannot cross', () => {
  it.each([
    ['cyclic', 'const o = {}; o.o = o; return o'],
    ['not a number', 'return { n: 0 / 0 }'],
    ['infinite', 'return [1 / 0]'],
    ['a function', 'return { f() {} }'],
    ['a symbol', 'return [Symbol()]'],
    ['a big integer', 'return 1n'],
    ['a map', 'return new Map()'],
    ['bytes', 'return new Uint8Array(2)'],
    ['undefined in an array', 'return [undefined]'],
    ['an unsafe integer', 'return 2 ** 60'],
    ['a lone surrogate', 'return "\\ud800"'],
    ['a reserved key', 'return { $blob: 1 }'],
    ['too deep', 'let o = 1; for (let n = 0; n < 70; n += 1) o = [o]; return o'],
    ['a throwing getter', 'return { get a() { throw new Error("no") } }'],
    ['a forging toJSON', 'return { toJSON() { return 0 / 0 } }']
  ])('%s', async (_, body) => {
    expect(await execute(runs(body))).toMatchObject({
      kind: 'failed',
      code: 'invalid_value',
      isDeterministic: true
    })
  })

  it('takes getters as their values, and leaves out undefined members', async () => {
    expect(await result('return { get a() { return 1 }, b: undefined }')).toEqual({ a: 1 })
    expect(await result('')).toBeNull()
  })

  it('tells what a package threw, whatever that is', async () => {
    const message = async (body: string) => {
      const outcome = await execute(runs(body))
      return outcome.kind === 'failed' ? `${outcome.code} ${outcome.message}` : outcome.kind
    }
    expect(await message('throw new TypeError("bad")')).toBe('thrown TypeError: bad')
    expect(await message('throw "text"')).toBe('thrown Error: text')
    expect(await message('throw { get message() { throw 1 } }')).toBe(
      'thrown Error: the error cannot be described'
    )
    expect(await message('throw new Error("x".repeat(5000))')).toHaveLength(1014)
  })
})
