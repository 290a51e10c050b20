import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type * as Testing from '../../../../src/testing/index.js'
import { builtModule } from '../../../support/built.js'

const { detectImpurities, detectImpurity }: typeof Testing = await import(
  builtModule('testing/index.js')
)

const module = (name: string) => new URL(`./${name}.mjs`, import.meta.url)
const input = { b: 2, a: 1 }

interface Planted {
  readonly kind: string
  readonly api: string
  readonly line: number
}

/** What the comments of the file say is to be found, by name of the export. */
function plantedIn(file: URL): ReadonlyMap<string, Planted> {
  const planted = new Map<string, Planted>()
  const variables = new Map<string, Planted>()
  let name = ''
  for (const [index, text] of readFileSync(file, 'utf8').split('\n').entries()) {
    name = /^ {2}(\w+): (?:block|flow)\(/.exec(text)?.[1] ?? name
    const [, kind = '', api = ''] = /\/\/ found: ([\w ]+), (.+)$/.exec(text) ?? []
    if (kind === '') continue
    const found = { kind, api, line: index + 1 }
    if (name === '') variables.set(/^(?:let|const) (\w+)/.exec(text)?.[1] ?? '', found)
    else planted.set(name, found)
  }
  const users = { at_load: 'startedAt', counter: 'count', memo: 'seen' }
  for (const [user, variable] of Object.entries(users)) {
    const found = variables.get(variable)
    if (found !== undefined) planted.set(user, found)
  }
  return planted
}

const planted = plantedIn(module('planted'))
const reports = new Map<string, Testing.ImpurityReport>()

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'tally-detect-')))
/** Its seventh line reads the clock; the compiled form has fewer lines. */
const typed = `import { defineBlock } from '${builtModule('code/index.js')}'
interface Given {
  readonly a: number
}
export const typed = defineBlock({ name: 'typed', version: '1.0.0', run(_ctx, given: Given) {
  const { a }: Given = given
  return a + Date.now()
} })
`

describe('detectors of impurity (K8)', () => {
  afterAll(() => rmSync(directory, { recursive: true }))

  beforeAll(async () => {
    const options = { loader: 'ts', sourcemap: 'inline', sourcefile: 'typed.ts' } as const
    const compiled = join(directory, 'typed.mjs')
    writeFileSync(compiled, transformSync(typed, options).code)
    const targets: Testing.DetectedBlock[] = [...planted.keys()].map((name) => ({
      module: module('planted'),
      export: 'planted',
      block: name,
      input
    }))
    targets.push({ module: compiled, export: 'typed', input })
    const found = await detectImpurities(targets, { timeoutMs: 60_000 })
    for (const [index, name] of [...planted.keys(), 'typed'].entries()) {
      const report = found[index]
      if (report !== undefined) reports.set(name, report)
    }
  })

  it('K8: has at least thirty planted bugs to find', () => {
    expect(planted.size).toBeGreaterThanOrEqual(30)
  })

  it.each([...planted])(
    'K8: finds the planted bug "%s" at its line',
    (name, { kind, api, line }) => {
      const report = reports.get(name)
      const at = { file: fileURLToPath(module('planted')), line }
      expect(report?.findings).toContainEqual({ kind, api, at, instead: expect.any(String) })
      expect(report?.ok).toBe(false)
      expect(report?.findings.map((one) => one.at?.line)).toEqual(report?.findings.map(() => line))
    }
  )

  it('K8: gives the line of the source where the module has a map to it', () => {
    const at = { file: join(directory, 'typed.ts'), line: 7 }
    expect(reports.get('typed')?.findings).toMatchObject([{ api: 'Date.now', at }])
  })

  it('K8: finds what a library does that is itself the code of a block', async () => {
    const library = join(directory, 'node_modules', 'library')
    mkdirSync(library, { recursive: true })
    writeFileSync(join(library, 'package.json'), '{"type":"module","exports":"./index.js"}')
    writeFileSync(join(library, 'index.js'), 'export const draw = () => Math.random()\n')
    const file = join(directory, 'drawn.mjs')
    writeFileSync(
      file,
      `import { defineBlock } from '${builtModule('code/index.js')}'
import { draw } from 'library'
export const drawn = defineBlock({ name: 'drawn', version: '1.0.0', run: draw })
`
    )
    const { findings } = await detectImpurity({ module: file, export: 'drawn', input })
    const at = { file: join(library, 'index.js'), line: 1 }
    expect(findings).toMatchObject([{ api: 'Math.random', at }])
  })

  it('K8: does nothing outside while it looks', () => {
    // The directories of the processes.
    const places = [process.cwd(), tmpdir()].map((place) => join(place, 'planted.txt'))
    expect(places.filter((place) => existsSync(place))).toEqual([])
  })

  it('K8: names what alone makes a difference', () => {
    expect(reports.get('counter')?.varied?.changed).toEqual(['second execution'])
    expect(reports.get('key_order')?.varied).toMatchObject({ changed: ['key order'] })
    expect(reports.get('at_load')?.varied?.changed).toEqual(['clock'])
  })
})

const tapes: Readonly<Record<string, Testing.DetectedBlock['tape']>> = {
  context: [{ seq: 1, effect: 'state.list', ok: true, body: [] }],
  effect: [
    { seq: 1, effect: 'file.read', ok: true, body: 'x' },
    { seq: 2, effect: 'time', ok: true, body: 1 }
  ],
  errors: [{ seq: 1, effect: 'bank', ok: false, body: { reason: 'away' } }]
}

const pure = [
  ...['context', 'effect', 'dates', 'pure_functions', 'microtasks', 'errors'],
  ...['node_modules', 'errors_of_node', 'console']
]
const ofPure: readonly Testing.DetectedBlock[] = pure.map((block) => {
  const tape = tapes[block]
  const target = { module: module('pure'), export: 'pure', block, input }
  return tape === undefined ? target : { ...target, tape }
})

const invoice = { id: 'i1', payee: 'p', amount: '1.00' }
const ofInvoices: readonly Omit<Testing.DetectedBlock, 'module' | 'export'>[] = [
  {
    block: 'invoices.load',
    input: { path: 'invoices.csv' },
    tape: [{ seq: 1, effect: 'file.read', ok: true, body: 'id,payee,amount\ni1,p,1.00\n' }]
  },
  { block: 'invoices.pick', state: { open: ['i1'], 'invoice/i1': invoice } },
  {
    block: 'invoices.pay',
    input: invoice,
    tape: [{ seq: 1, effect: 'bank.transfer', ok: true, body: { reference: 'r' } }]
  },
  { block: 'invoices.book', input: invoice },
  { block: 'invoices.report', state: { paid: ['i1'], 'payment/i1': invoice } }
]

const order = { item: 'tea', cents: 60_000 }
const answered = { action: 'approve', by: null, value: null }
const sent = { action: 'signal', at: 1, by: null, id: 's1', value: { reference: 'r' } }
const ofOrders: readonly Omit<Testing.DetectedBlock, 'module' | 'export'>[] = [
  {
    block: 'shop.approve',
    input: order,
    tape: [{ seq: 1, effect: 'wait', ok: true, body: answered }]
  },
  {
    block: 'shop.charge',
    input: order,
    tape: [{ seq: 1, effect: 'bank.charge', ok: true, body: { reference: 'r' } }]
  },
  { block: 'shop.settle', tape: [{ seq: 1, effect: 'run.signal', ok: true, body: sent }] },
  { block: 'shop.decline' },
  {
    block: 'shop.ship',
    input: order,
    tape: [{ seq: 1, effect: 'timer', ok: true, body: null }]
  }
]

describe('detectors of impurity on pure code (K8)', () => {
  it('K8: find nothing in code that keeps to ctx, as that of the examples', async () => {
    const example = builtModule('../examples/01-invoices/blocks.js')
    const targets: readonly Testing.DetectedBlock[] = [
      ...ofPure,
      ...ofInvoices.map((one) => ({ module: example, export: 'invoiceBlocks', ...one })),
      ...ofOrders.map((one) => ({ module: module('orders'), export: 'orders', ...one }))
    ]
    const found = await detectImpurities(targets)
    expect(found.map(({ notChecked: _, ...report }) => report)).toEqual(
      targets.map(() => ({ ok: true, findings: [] }))
    )
  })
})

describe('detectors of impurity where code does not end', () => {
  it('K8: say why the end was not seen, and look at the next block', async () => {
    const names = ['waiting', 'asking', 'refused', 'killed', 'absent', 'ended']
    const found = await detectImpurities([
      ...names.map((block) => ({ module: module('unended'), export: 'unended', block })),
      { module: module('absent'), export: 'unended' }
    ])
    expect(found.map(({ ok, unended }) => [ok, unended ?? ''])).toEqual([
      [false, expect.stringContaining('it waits for something outside ctx')],
      [false, expect.stringContaining('a response to rate')],
      [false, 'it failed where fetch is refused'],
      [false, expect.stringContaining('its process ended with SIGKILL')],
      [false, expect.stringContaining('is no block')],
      [true, ''],
      [false, expect.stringContaining('absent.mjs')]
    ])
  })

  it('K8: stop code without an end', async () => {
    const target = { module: module('unended'), export: 'unended', block: 'endless' }
    const found = await detectImpurity(target, { timeoutMs: 500 })
    expect(found).toMatchObject({ ok: false, unended: 'it was stopped after 500 ms' })
  })
})

describe('detectors of impurity on workflows in code (K8)', () => {
  const file = module('workflows')
  const tape = [{ seq: 1, effect: 'step', ok: true, body: { paid: 1 } }]
  const known = plantedIn(file)
  const reportsOf = new Map<string, Testing.ImpurityReport | undefined>()

  beforeAll(async () => {
    const names = [...known.keys()]
    const found = await detectImpurities(
      names.map((block) => ({ module: file, export: 'planted', block, input, tape })),
      { timeoutMs: 60_000 }
    )
    for (const [index, name] of names.entries()) reportsOf.set(name, found[index])
  })

  it.each([...known])('K8: finds the planted bug "%s" at its line', (name, planted) => {
    const { kind, api, line } = planted
    const report = reportsOf.get(name)
    const at = { file: fileURLToPath(file), line }
    expect(report?.findings).toContainEqual({ kind, api, at, instead: expect.any(String) })
    expect(report?.ok).toBe(false)
  })

  it('K8: find nothing where the code keeps to ctx, whatever its steps do', async () => {
    const mail = { seq: 2, effect: 'step', ok: false, body: { reason: 'away' } }
    const sleep = { seq: 3, effect: 'timer', ok: true, body: null }
    const given = [...tape, mail, sleep]
    const found = await detectImpurity({
      module: file,
      export: 'pure',
      block: 'careful',
      input,
      tape: given
    })
    expect(found).toMatchObject({ ok: true, findings: [] })
    expect(found.unended).toBeUndefined()
  })
})
