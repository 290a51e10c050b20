import { describe, expect, it } from 'vitest'
import { cases } from '../../../support/effort.js'
import { runs, sandboxOfFile } from '../guest.js'

const { execute, result } = sandboxOfFile()

describe('bombs', () => {
  it.each([
    ['endless loop', 'for (;;);', 'gas_exceeded'],
    ['endless loop in a module', undefined, 'gas_exceeded'],
    ['loop that catches everything', 'for (;;) try { for (;;); } catch {}', 'gas_exceeded'],
    [
      'catastrophic regular expression',
      `return /(a+)+$/.test('a'.repeat(40) + 'b')`,
      'gas_exceeded'
    ],
    ['heap', 'const a = []; for (;;) a.push({ a })', 'memory_exceeded'],
    [
      'heap, catching',
      'for (;;) try { const a = []; for (;;) a.push([a]) } catch {}',
      'memory_exceeded'
    ],
    ['one large buffer', 'return new ArrayBuffer(1e9).byteLength', 'memory_exceeded'],
    ['many buffers', 'const a = []; for (;;) a.push(new Uint8Array(1e6))', 'memory_exceeded'],
    ['filled arrays', 'const a = []; for (;;) a.push(new Array(1e5).fill())', 'memory_exceeded'],
    ['text', `return 'x'.repeat(1e8).length + 'y'.padStart(1e8).length`, 'memory_exceeded'],
    ['recursion of a parser', `return eval('['.repeat(1e5))`, 'stack_exceeded'],
    ['recursion of JSON', `return JSON.parse('['.repeat(1e5))`, 'stack_exceeded'],
    [
      'recursion of sort',
      'return [2, 1].sort(function s() { return [2, 1].sort(s) })',
      'stack_exceeded'
    ],
    ['a growing buffer', 'return new ArrayBuffer(8).transfer(1e9).byteLength', 'memory_exceeded'],
    ['a thenable for ever', 'const t = { then(f) { f(t) } }; await t', 'microtasks_exceeded'],
    ['recursion', 'const f = () => f() + 1; return f()', 'stack_exceeded'],
    [
      'recursion of the serialiser',
      'let o = 1; for (let n = 0; n < 9e3; n += 1) o = { o }; return o',
      'stack_exceeded'
    ],
    ['microtask flood', 'for (;;) await null', 'microtasks_exceeded'],
    ['calls of the host', 'for (;;) try { api.storage.get("x") } catch {}', 'host_calls_exceeded'],
    ['bytes to the host', `for (;;) api.storage.set('x', 'y'.repeat(1e5))`, 'host_bytes_exceeded']
  ])('%s', async (_, body, code) => {
    const bundle = body === undefined ? 'for (;;); export const run = 1' : runs(body)
    const gasTicks = code === 'gas_exceeded' ? 100 : 3_000
    const limits = { gasTicks, microtasks: 10_000, hostCalls: 1_000 }
    expect(await execute(bundle, { limits })).toMatchObject({
      kind: 'failed',
      code,
      isDeterministic: true
    })
    expect(await result('return 1')).toBe(1)
  })

  it.each(['tally-abi/1', 'tally-abi/2'] as const)(
    'X6: terminates what outlasts the wall clock under %s, and runs the next call',
    async (abi) => {
      const stuck = runs('const a = new Array(2e5).fill(1); for (;;) a.lastIndexOf(2)')
      const limits = { gasTicks: 10_000, wallMs: 50 }
      expect(await execute(stuck, { abi, limits })).toEqual({
        kind: 'failed',
        code: 'killed',
        message: 'the wall-clock limit ran out',
        isDeterministic: false
      })
      expect(await result('return 1')).toBe(1)
    }
  )

  it('counts a stack overflow that the guest catches as its own affair', async () => {
    const depth = 'let n = 0; const f = () => { n += 1; f() }; try { f() } catch {} return n'
    const first = await result(depth)
    expect(first).toBeGreaterThan(100)
    expect(await result(depth)).toBe(first)
  })

  it('X1: repeats output, gas and the point of exhaustion whatever ran before', async () => {
    const program = runs(`const a = []
      for (let n = 0; n < 2e3; n += 1) a.push({ n, r: Math.random(), s: 'x'.repeat(n % 7) })
      a.sort((x, y) => x.r - y.r)
      return { first: a[0].n, last: a.at(-1).n, id: api.uuid() }`)
    const bomb = runs(
      `const a = []
        for (;;) { a.push({ a }); if (a.length % 1000 === 0) api.storage.set('n', a.length) }`
    )
    const programs = new Set<string>()
    const bombs = new Set<string>()
    for (let repeat = 0; repeat < cases({ usual: 90, long: 165 }); repeat += 1) {
      // A module of its own each time disturbs memory, and the image cache, in between.
      if (repeat % 10 === 0)
        await execute(runs(`const junk = 'x'.repeat(${repeat * 997}); throw 1`))
      if (repeat % 30 === 0) bombs.add(JSON.stringify(await execute(bomb)))
      programs.add(JSON.stringify(await execute(program)))
    }
    expect([...programs]).toHaveLength(1)
    expect([...bombs]).toHaveLength(1)
    expect([...bombs][0]).toContain('memory_exceeded')
  })
})
