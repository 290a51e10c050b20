import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import {
  ABI_VERSIONS,
  type AbiVersion,
  createSandbox,
  ENGINE_WASM_SHA256,
  type SandboxLimits,
  type SandboxOutcome,
  type SealedAnswer
} from '../../../../src/capability/index.js'
import { METER_NAME } from '../../../../src/capability/sandbox/abi.js'
import { meteredWasm } from '../../../../src/capability/sandbox/metered-wasm.js'
import { preludeText } from '../../../../src/capability/sandbox/prelude.js'
import { type Json, sha256Hex } from '../../../../src/core/index.js'
import { committedVectors, isUpdate } from '../../../support/vectors.js'
import { answered, type GuestOptions, guestPackage, request, runs } from '../guest.js'

/** One execution with everything it depends on; `codeHash` covers `bundle`. */
interface Vector {
  readonly name: string
  readonly codeHash: string
  readonly bundle: string
  readonly intent: Json
  readonly granted: readonly string[]
  readonly tape: readonly SealedAnswer[]
  readonly now: number
  readonly seed: string
  readonly state: Readonly<Record<string, string>>
  readonly limits: Partial<SandboxLimits>
  readonly outcome: Json
}

interface Program {
  readonly name: string
  readonly body: string
  readonly options?: Omit<GuestOptions, 'read'>
  readonly state?: Readonly<Record<string, string>>
}

const wall = { wallMs: 60_000 }
const programs: readonly Program[] = [
  {
    name: 'adds to a counter',
    state: { 'packages/guest/n': '41' },
    body: `
    const n = (api.storage.get('n') ?? 0) + 1; api.storage.set('n', n); return { n }`
  },
  {
    name: 'draws random numbers',
    body: `
    return { a: Math.random(), b: api.random(), c: api.uuid(),
      d: [5, 3, 9].sort(() => Math.random() - 0.5) }`
  },
  {
    name: 'reads the clock',
    body: `
    return [Date.now(), new Date().toString(), new Date('2024-02-29T12:00').toJSON(),
      new Date(2024, 9, 27, 2).getTime()]`
  },
  {
    name: 'does mathematics that differs between engines',
    body: `
    return [10 ** -5, Math.pow(10, -5), Math.sin(1e22), Math.exp(1), Math.cbrt(2),
      Math.tan(1e6), Math.log1p(1e-10),
      (0.1).toFixed(20), (1e21).toLocaleString(), (123.456).toPrecision(30), 2 ** 0.5]`
  },
  {
    name: 'formats text that differs between engines',
    body: `
    const says = (f) => {
      try { return f() } catch (error) { return error.name + ': ' + error.message }
    }
    return [says(() => JSON.parse('{bad')), says(() => null.x), says(() => undefinedName),
      says(() => (1)()),
      'ß'.toUpperCase(), 'İ'.toLowerCase(), 'e\\u0301'.normalize(), ['b', 'ä', 'a', 'B'].sort(),
      ['b', 'ä', 'a'].sort((x, y) => x.localeCompare(y)), /\\p{L}+/u.exec('1héllo')[0]]`
  },
  {
    name: 'recurses as deep as it can',
    body: `
    let n = 0; const f = () => { n += 1; f() }; try { f() } catch {} return n`
  },
  {
    name: 'loops a million times',
    body: 'let n = 0; for (let i = 0; i < 1e6; i += 1) n += i % 3; return n'
  },
  {
    name: 'computes fib(20)',
    body: 'const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2); return fib(20)'
  },
  { name: 'backtracks', body: `return /(a+)+$/.test('a'.repeat(20) + 'b')` },
  {
    name: 'sends, then waits',
    body: `return await api.wallet.send({ to: 'alice', amount: '10' })`
  },
  {
    name: 'sends, and goes on with the answer',
    body: `
    const sent = await api.wallet.send({ to: 'alice', amount: '10' })
    api.storage.set('last', sent)
    return sent.id`,
    options: { recorded: [answered(0, { to: 'alice', amount: '10' }, { id: 'tx-1' })] }
  },
  {
    name: 'catches a failed effect',
    body: `
    try { await api.wallet.send(1) } catch (error) {
      return [error.name, error.message, error.details]
    }`,
    options: {
      recorded: [
        {
          seq: 0,
          requestHash: sha256Hex('1'),
          ok: false,
          reason: 'no_funds',
          details: { short: '3' }
        }
      ]
    }
  },
  {
    name: 'catches a denied call',
    options: { granted: ['storage.read'] },
    body: `
    try { await api.wallet.send(1) } catch (error) { return error.message }`
  },
  { name: 'loops for ever', options: { limits: { gasTicks: 100 } }, body: 'for (;;);' },
  {
    name: 'fits as many objects as there is memory for',
    body: 'const a = []; for (let n = 0; n < 188199; n += 1) a.push({ n }); return a.length'
  },
  {
    name: 'fits not one object more',
    body: 'const a = []; for (let n = 0; n < 188200; n += 1) a.push({ n }); return a.length'
  },
  {
    name: 'fills memory with objects',
    body: 'const a = []; for (;;) { a.push({ a }); if (a.length % 1000 === 0) await null }'
  },
  { name: 'fills memory with bytes', body: 'const a = []; for (;;) a.push(new Uint8Array(1e5))' },
  { name: 'overflows the stack', body: 'const f = () => f() + 1; return f()' },
  {
    name: 'floods microtasks',
    options: { limits: { microtasks: 1000 } },
    body: 'for (;;) await null'
  },
  { name: 'returns what is not JSON', body: 'return { n: 0 / 0 }' },
  { name: 'throws', body: 'throw new RangeError("too far")' }
]

const sandbox = createSandbox({ threads: 2 })
afterAll(() => sandbox.close())

async function vectorOf(
  { name, body, options = {}, state = {} }: Program,
  abi: AbiVersion
): Promise<Vector> {
  const asked = request(runs(body.trim()), {
    abi,
    ...options,
    limits: { ...wall, ...options.limits },
    read: (key) => state[key]
  })
  const { intent, granted, recorded: tape, now, seed, limits = {} } = asked
  const { codeHash, bundle } = asked.package
  const outcome = plain(await sandbox.execute(asked))
  return { name, codeHash, bundle, intent, granted, tape, now, seed, state, limits, outcome }
}

function plain(outcome: SandboxOutcome): Json {
  const writes = outcome.kind === 'done' ? { writes: [...outcome.writes] } : {}
  return JSON.parse(JSON.stringify({ ...outcome, ...writes }))
}

/** On every Node major and machine: results, gas, and where memory and stack end (D5). */
describe.each([
  ['tally-abi/1', 'sandbox-outcomes.json'],
  ['tally-abi/2', 'sandbox-outcomes-2.json']
] as const)('sandbox vectors of %s', async (abi, fileName) => {
  const made = isUpdate ? await Promise.all(programs.map((one) => vectorOf(one, abi))) : []
  const committed = committedVectors<Vector>(fileName, () => made)

  it('are as many as there are programs', () => {
    expect(committed.map(({ name }) => name)).toEqual(programs.map(({ name }) => name))
  })

  it.each(programs)('D5: $name', async (program) => {
    const vector = await vectorOf(program, abi)
    expect(vector).toEqual(committed.find(({ name }) => name === program.name))
  })
})

describe('what code hashes name', () => {
  it('is the prelude, the engine and the meter of each interface', async () => {
    const bytes = await readFile(
      fileURLToPath(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))
    )
    const metered = sha256Hex(meteredWasm(bytes, METER_NAME))
    const parts = ABI_VERSIONS.map((abi) => ({
      abi,
      engine: ENGINE_WASM_SHA256,
      prelude: sha256Hex(preludeText),
      // The first interface counts no steps, but runs in the same bytes.
      ...(abi === 'tally-abi/1' ? {} : { metered })
    }))
    // Another prelude or meter under the same version would change what old packages do.
    expect(parts).toEqual(committedVectors('sandbox-abi.json', () => parts))
  })

  it('is one hash for the same code under the same interface', () => {
    const bundle = 'export const run = () => 1'
    expect(guestPackage(bundle).codeHash).toBe(guestPackage(bundle).codeHash)
    const first = guestPackage(bundle, { abi: 'tally-abi/1' })
    expect(first.codeHash).not.toBe(guestPackage(bundle).codeHash)
  })
})
