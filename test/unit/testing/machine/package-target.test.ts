import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  encodePackage,
  makePackage,
  parseManifest,
  type Sandbox
} from '../../../../src/capability/index.js'
import { type Json, nextTurn } from '../../../../src/core/index.js'
import {
  type Case,
  type MachineOptions,
  type MachineReport,
  type PackageTarget,
  simulate,
  verifyCase,
  verifyMachine
} from '../../../../src/testing/index.js'
import { Script } from '../../../../src/testing/machine/case.js'
import { play } from '../../../../src/testing/machine/play.js'
import { stageOf } from '../../../../src/testing/machine/stage.js'
import { prepareTarget } from '../../../../src/testing/machine/target.js'
import { builtModule } from '../../../support/built.js'
import { cases, testMs } from '../../../support/effort.js'
import { root } from '../../../support/source.js'
import { tallyErrorOf } from '../../../support/tally-error-of.js'

const counterFolder = new URL('./counter/', import.meta.url)
const counterManifest: Json = JSON.parse(
  readFileSync(new URL('./manifest.json', counterFolder), 'utf8')
)

/** A package of the counter's manifest whose `run` has this body. */
function counts(body: string): PackageTarget {
  const parsed = parseManifest(counterManifest)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.refusals))
  const bundle = `
    let executions = 0
    const url = 'https://api.example.com/adds'
    const forEver = new Promise(() => undefined)
    export async function run({ payload: { by } }, { storage, network }) {
      executions += 1
      const post = () => network.request({ url, method: 'POST', body: String(by), okOnly: true })
      const total = (storage.get('total') ?? 0) + by
      ${body}
    }`
  return { package: encodePackage(makePackage({ manifest: parsed.manifest, bundle })) }
}

const careful = counts(`
  await post()
  storage.set('total', total)
  return { total, executions }`)

const totalKey = 'packages/counter/total'
const honest: MachineOptions = {
  always: { 'it counts whole numbers': ({ state }) => Number.isInteger(state[totalKey] ?? 0) }
}

function adds(by: number, more: Partial<Case> = {}): Case {
  return { inputs: [{ action: 'counter.add', payload: { by } }], ...more }
}

const answers = [{ status: 200 }]
const fine = { 'network.request': { answers } }

describe('a package', () => {
  it(
    'keeps every promise with inputs of its manifest and answers of the network',
    async () => {
      const count = cases({ usual: 8, long: 33, soak: 66 })
      const report = await verifyMachine(careful, { ...honest, concurrent: 2, cases: count })
      expect(report.cases).toBe(count)
      expect(report.crashes).toBeGreaterThan(0)
      expect(report.coverage.transitions).toEqual({ taken: 1, of: 1 })
      expect(report.coverage.states).toEqual({ taken: 2, of: 2 })
      expect(report.notChecked.join()).toContain('packages: what servers keep')
    },
    testMs(900_000)
  )

  it('keeps every promise wherever its process dies', async () => {
    let report: MachineReport | undefined
    for (let at = 1; at <= 16; at += cases({ usual: 4, long: 1 })) {
      report = await verifyCase(careful, adds(3, { effects: fine, deaths: [{ at }] }), honest)
      expect(report.crashes).toBe(1)
    }
    expect(report?.coverage.states).toEqual({ taken: 1, of: 2 })
  })

  it('M5: leaves the same however many turns its threads take', async () => {
    const prepared = await prepareTarget(careful)
    const stage = stageOf(prepared, {})
    const inputs = [3, 4, 5].flatMap((by) => adds(by).inputs)
    const given = { inputs, effects: { 'network.request': { answers, troubles: [null, 50] } } }
    const left: string[] = []
    for (const turns of [0, 1, 40]) {
      const hosted = prepared.hosted && {
        ...prepared.hosted,
        sandbox: slowed(prepared.hosted.sandbox, turns)
      }
      const script = new Script(given as Case)
      const options = { script, inputs, deaths: [{ at: 9 }], verifies: true }
      const { receipts, world, results } = await play({ ...stage, hosted }, options)
      expect(results.map(({ status }) => status)).toEqual(['done', 'done', 'done'])
      left.push(JSON.stringify([receipts.map(({ receipt }) => receipt), world.story]))
    }
    await prepared.close()
    expect(new Set(left).size).toBe(1)
  })

  it('is taken from a directory, with inputs of its own for what it describes in words', async () => {
    const wallet = join(root, 'examples/02-wallet/packages/wallet')
    const options = { cases: cases({ usual: 4, long: 11, soak: 22 }), concurrent: 3 }
    const asked = await tallyErrorOf(verifyMachine({ package: wallet }, options))
    expect(asked.code).toBe('testing.inputs_missing')
    expect(asked.message).toContain('wallet.reserve')
    const report = await verifyMachine({ package: wallet, action: 'wallet.mintFC' }, options)
    expect(report.cases).toBe(options.cases)
  })

  it('is done by documents that name its intents', async () => {
    const input = { object: { action: { lit: 'counter.add' }, payload: { lit: { by: 2 } } } }
    const twice = {
      schema: 'tally-composite/1',
      name: 'twice',
      version: '1.0.0',
      entry_point: 'first',
      nodes: { first: { block: 'intent', input }, second: { block: 'intent', input } },
      transitions: { first: 'second' }
    }
    const target = { document: twice, packages: [careful.package] }
    const eventually = {
      'it adds twice': ({ state }: { readonly state: Readonly<Record<string, Json>> }) =>
        state[totalKey] === 4
    }
    const report = await verifyCase(target, { inputs: [{}], effects: fine }, { eventually })
    expect(report.coverage.transitions).toEqual({ taken: 2, of: 2 })
  })

  it('lives in simulations, the same for the same seed', async () => {
    const runs = [3, 4].flatMap((by) => adds(by).inputs)
    const nodes = { north: { target: careful, runs }, south: { target: careful, runs } }
    const effects = { 'network.request': { answer: () => ({ status: 200 }) } }
    for (let seed = 1; seed <= cases({ usual: 2, long: 11, soak: 22 }); seed += 1) {
      const first = await simulate({ seed, nodes, effects })
      const second = await simulate({ seed, nodes, effects })
      expect(second.trace).toBe(first.trace)
      expect(first.trace).toContain('counter computes')
    }
  })
})

/** A sandbox whose guests take so many turns of the loop more. */
function slowed(sandbox: Sandbox, turns: number): Sandbox {
  return {
    warm: () => sandbox.warm(),
    close: () => sandbox.close(),
    async execute(request) {
      for (let turn = 0; turn < turns; turn += 1) await nextTurn()
      return sandbox.execute(request)
    }
  }
}

interface Planted {
  readonly fault: string
  readonly promise: string
  readonly body: string
  readonly given?: Case
  readonly options?: MachineOptions
}

const plain = 'return { total }'
const keeps = `storage.set('total', total); ${plain}`

const planted: readonly Planted[] = [
  {
    fault: 'does an effect again where it cannot tell what became of the first',
    promise: 'once',
    body: `await post().catch(post); ${keeps}`,
    given: adds(1, { effects: { 'network.request': { answers, troubles: ['loses_done'] } } })
  },
  {
    fault: 'asks a server that does again what is asked again',
    promise: 'once',
    body: `await post(); ${keeps}`,
    // After the server has done it, and before that is on disk.
    given: adds(1, { deaths: [{ at: 8 }] }),
    options: {
      effects: { 'network.request': { answer: () => ({ status: 200 }), repeats: 'again' } }
    }
  },
  {
    fault: 'gives another result than its manifest declares',
    promise: 'conforms',
    body: 'return { total: String(total) }'
  },
  { fault: 'waits for what never comes', promise: 'conforms', body: `await forEver; ${plain}` },
  {
    fault: 'returns what cannot stand in a reply',
    promise: 'conforms',
    body: 'return { total, id: 1 }'
  },
  {
    fault: 'returns what is no JSON',
    promise: 'conforms',
    body: 'return { total: () => undefined, self: globalThis }'
  },
  {
    fault: 'works without an end',
    promise: 'bounded',
    body: 'for (;;) await undefined'
  },
  {
    fault: 'asks without an end',
    promise: 'bounded',
    body: 'for (;;) await network.request({ url })',
    options: { bounds: { effects: 20 } }
  },
  {
    fault: 'calls itself without an end',
    promise: 'bounded',
    body: 'const again = () => again() + 1; return { total: again() }'
  },
  {
    fault: 'breaks an invariant that always holds',
    promise: 'always',
    body: `storage.set('total', by > 50 ? total / 2 : total); ${plain}`,
    given: adds(51),
    options: honest
  },
  {
    fault: 'breaks an invariant of the end',
    promise: 'eventually',
    body: plain,
    options: { eventually: { 'it has counted': ({ state }) => totalKey in state } }
  },
  {
    fault: 'does what may not be done beside the other',
    promise: 'never_both',
    body: `await post(); ${keeps}`,
    options: { neverBoth: [['network.request', 'counter.add']] }
  }
]

describe('a package that', () => {
  it.each(planted)('$fault is found', async ({ body, promise, given, options }) => {
    const played = given ?? adds(1, { effects: fine })
    const error = await tallyErrorOf(verifyCase(counts(body), played, options))
    expect(error.code).toBe('testing.promise_broken')
    expect(error.context).toMatchObject({ promise, target: 'counter' })
  })

  it('asks a host that its manifest does not name is refused, as outside', async () => {
    const target = counts(`await network.request({ url: 'https://example.org/' }); ${plain}`)
    const report = await verifyCase(target, adds(1, { effects: fine }))
    expect(report.coverage.missed).toContainEqual({
      what: 'root/counter: done',
      why: 'no answer led there'
    })
  })

  it('fails by itself has broken nothing', async () => {
    const target = counts("throw new Error('it is closed')")
    expect((await verifyCase(target, adds(1))).cases).toBe(1)
  })
})

const refused: readonly (readonly [what: string, target: PackageTarget, problem: string])[] = [
  ['a directory without one', { package: join(root, 'docs') }, 'manifest.json'],
  ['a text that is none', { package: '{"abi":"tally-abi/2"}' }, 'members'],
  ['an intent that it does not serve', { ...careful, action: 'counter.take' }, 'counter.add']
]

describe('what is no package', () => {
  it.each(refused)('M3: is named: %s', async (_, target, problem) => {
    const error = await tallyErrorOf(verifyMachine(target, { cases: 1 }))
    expect(error.code).toBe('testing.target_invalid')
    expect(error.message).toContain(problem)
  })
})

describe('a counterexample of a package', () => {
  // Below the package, so that `tallystick` resolves to what is built.
  mkdirSync(join(root, 'dist'), { recursive: true })
  const folder = mkdtempSync(join(root, 'dist', 'regressions-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const module = new URL('./packaged.mjs', import.meta.url).href
  const from = { module, target: 'target', options: 'options' }
  const scripts = [
    ['from its module', { from }, `from '${module}'`],
    ['by itself', {}, 'const target = {"package":"{']
  ] as const

  it.each(scripts)('M1: is a script that plays the case again: %s', async (_, place, said) => {
    const { target, options } = await import(module)
    const given = adds(1, { effects: { 'network.request': { answers, troubles: ['loses'] } } })
    const error = await tallyErrorOf(verifyCase(target, given, { ...options, ...place }))
    expect(error.context).toMatchObject({ promise: 'once' })
    expect(error.message).toContain('counter computes: it asks for network.request')
    expect(error.message).toMatch(/class s_counter failing/)
    const [, script = ''] =
      /^the script that plays it again:\n(.*?)^the chart/ms.exec(error.message) ?? []
    expect(script).toContain(said)
    expect(script.split('\n').length).toBeLessThanOrEqual(30)
    const path = join(folder, 'counter.mjs')
    writeFileSync(path, script)
    builtModule('testing/index.js')
    const { stderr, status } = spawnSync(process.execPath, [path], { encoding: 'utf8' })
    expect(status).not.toBe(0)
    expect(stderr).toContain('breaks the promise "once"')
  })
})
