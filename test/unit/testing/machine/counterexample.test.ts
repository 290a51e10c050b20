import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { inOrder } from '../../../../bench/simulated-shop.js'
import { type Block, defineBlock } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import {
  type MachineOptions,
  type MachineTarget,
  type Seen,
  verifyCase,
  verifyMachine
} from '../../../../src/testing/index.js'
import { caseArbitrary } from '../../../../src/testing/machine/case-arbitrary.js'
import { scriptOf } from '../../../../src/testing/machine/counterexample.js'
import { loadFastCheck } from '../../../../src/testing/machine/fast-check.js'
import { partsOf } from '../../../../src/testing/machine/stage.js'
import { prepareTarget } from '../../../../src/testing/machine/target.js'
import { written, writtenTarget } from '../../../../src/testing/machine/written-target.js'
import { builtModule } from '../../../support/built.js'
import { root } from '../../../support/source.js'
import { tallyErrorOf } from '../../../support/tally-error-of.js'

// Below the package, so that `tallystick` resolves to what is built.
mkdirSync(join(root, 'dist'), { recursive: true })
const folder = mkdtempSync(join(root, 'dist', 'regressions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const module = new URL('./blindly.mjs', import.meta.url).href
builtModule('code/index.js')
const blindly: {
  readonly target: MachineTarget
  readonly options: Pick<MachineOptions, 'effects'>
} = await import(module)
const { target } = blindly
const options: MachineOptions = {
  ...blindly.options,
  inputs: fc.constant<Json>({}),
  cases: 50,
  seed: 7
}

/** Looks, and then turns right unless it sees an a. */
const branching = {
  blocks: [
    defineBlock({
      name: 'look',
      version: '1.0.0',
      sideEffects: 'none',
      run: () => ({ kind: 'b' })
    }),
    defineBlock({ name: 'left', version: '1.0.0', sideEffects: 'none', run: () => ({}) }),
    defineBlock({ name: 'right', version: '1.0.0', sideEffects: 'none', run: () => ({}) })
  ],
  document: {
    schema: 'tally-composite/1',
    name: 'branching',
    version: '1.0.0',
    entry_point: 'look',
    nodes: { look: { block: 'look' }, left: { block: 'left' }, right: { block: 'right' } },
    transitions: {
      look: [
        { condition: { cel: 'response.data.kind == "a"' }, target: 'left' },
        { condition: 'default', target: 'right' }
      ]
    }
  }
}

/** Broken by the receipt of the node. */
const neverDone = { always: { 'it does not turn': isBeforeRight } }

function isBeforeRight({ receipts }: Seen): boolean {
  return !receipts.some(({ inputPayload }) => inputPayload.run?.path === 'root/right')
}

const cyclic: Record<string, unknown> = {}
cyclic['again'] = cyclic

/** The arrows of a drawing with their colours. */
function arrowsIn(message: string): readonly (readonly [arrow: string, colour: string])[] {
  const lines = message.split('\n').map((line) => line.trim())
  const colours = new Map<number, string>()
  for (const line of lines) {
    const [, places = '', colour] = /^linkStyle (\S+) stroke:(#\w+),/.exec(line) ?? []
    if (colour === undefined) continue
    for (const place of places.split(',')) {
      colours.set(Number(place), colour === '#b91c1c' ? 'failing' : 'taken')
    }
  }
  const arrows = lines.filter((line) => line.includes(' -->'))
  return arrows.map((line, place) => [line, colours.get(place) ?? 'none'])
}

describe('a counterexample', () => {
  it('M1: is a script of at most 30 lines that plays the case again', async () => {
    const from = { module, target: 'target', options: 'options' }
    const error = await tallyErrorOf(verifyMachine(target, { ...options, from, save: folder }))
    expect(error.code).toBe('testing.promise_broken')
    const [name = ''] = readdirSync(folder).filter((one) => one.startsWith('blindly.once'))
    const script = readFileSync(join(folder, name), 'utf8')
    expect(script.split('\n').length).toBeLessThanOrEqual(30)
    expect(script).toContain('seed 7')
    // As it is committed: it names no place of this machine.
    const place = relative(folder, fileURLToPath(module)).replaceAll('\\', '/')
    expect(script).toContain(`import { target, options } from '${place}'`)
    expect(script).not.toContain(root)
    expect(error.message).toContain(script)
    builtModule('testing/index.js')
    const { stderr, status } = spawnSync(process.execPath, [join(folder, name)], {
      encoding: 'utf8'
    })
    expect(status).not.toBe(0)
    expect(stderr).toContain('breaks the promise "once"')
  })

  it('is as small as it can be, and shows its path in the chart', async () => {
    const error = await tallyErrorOf(verifyMachine(target, options))
    expect(error.message).toContain('effects: {"pay":{"troubles":["loses"]}}')
    expect(error.message).toContain('the caller cannot tell')
    expect(error.message).toMatch(/class s_blindly failing/)
    expect(error.message).not.toContain('deaths')
  })

  it('has its path in one colour, and the node that failed and its arrow in another', async () => {
    const says = (name: string, run: Block['run']) =>
      defineBlock({ name, version: '1.0.0', sideEffects: 'none', run })
    let executions = 0
    const blocks = [
      says('first', () => ({})),
      says('unsteady', () => {
        executions += 1
        return { executions }
      }),
      says('last', () => ({}))
    ]
    const steps = inOrder(blocks)
    const error = await tallyErrorOf(verifyCase(steps, { inputs: [{}] }))
    expect(error.message).toContain('flowchart TD')
    expect(error.message).toContain('classDef failing fill:')
    expect(error.message).toMatch(/^ {2}class s_first,s_last taken$/m)
    expect(error.message).toMatch(/^ {2}class s_unsteady failing$/m)
    expect(arrowsIn(error.message)).toEqual([
      ['start((" ")) --> s_first', 'taken'],
      ['s_first --> s_unsteady', 'failing'],
      ['s_unsteady --> s_last', 'taken'],
      ['s_last --> finish(((" ")))', 'taken']
    ])
  })

  it('leaves arrows without colour that were not taken, and writes their conditions', async () => {
    const error = await tallyErrorOf(verifyCase(branching, { inputs: [{}] }, neverDone))
    expect(arrowsIn(error.message)).toEqual([
      ['start((" ")) --> s_look', 'taken'],
      ['s_look -->|"response.data.kind == #quot;a#quot;"| s_left', 'none'],
      ['s_look -->|"default"| s_right', 'failing'],
      ['s_left --> finish(((" ")))', 'none'],
      ['s_right --> finish(((" ")))', 'taken']
    ])
  })

  it('has the arrows of a plan in colour', async () => {
    const nodes = [
      { id: 'look', block: 'look' },
      { id: 'left', block: 'look', deps: ['look'] },
      { id: 'right', block: 'right', deps: ['look', 'left'] }
    ]
    const document = { schema: 'tally-plan/1', name: 'plan', version: '1.0.0', nodes }
    const { blocks } = branching
    const error = await tallyErrorOf(verifyCase({ document, blocks }, { inputs: [{}] }, neverDone))
    expect(arrowsIn(error.message)).toEqual([
      ['s_look --> s_left', 'taken'],
      ['s_look --> s_right', 'failing'],
      ['s_left --> s_right', 'failing']
    ])
  })

  it('has a target that is plain JSON in its script, as far as its options need no code', () => {
    const document = { schema: 'tally-composite/1', name: 'plain' }
    const target = writtenTarget({ document, workflow: { protocols: [] } }, [])
    const scripted = { pay: { answer: z.string(), repeats: 'again' } } as const
    const options = { effects: scripted, context: { a: 1 }, always: { 'it holds': () => true } }
    expect(written(target, options, 'once')).toEqual({
      target: JSON.stringify({ document, workflow: { protocols: [] } }),
      options: '{"effects":{"pay":{"answer":{},"repeats":"again"}},"context":{"a":1}}'
    })
    expect(written(target, options, 'always')).toBeUndefined()
    const own = { effects: { pay: { answer: () => 'paid' } } }
    expect(written(target, own, 'once')).toBeUndefined()
    expect(written(target, { people: { sign: () => undefined } }, 'once')).toBeUndefined()
    expect(written(target, { next: {} }, 'once')).toBeUndefined()
    expect(written('x'.repeat(20_000), {}, 'once')).toBeUndefined()
  })

  it.each([
    ['a block', {}],
    ['a class', { providers: [new Date()] }],
    ['a cycle', { workflow: cyclic }]
  ])('imports its target where that has %s', (_, more) => {
    const blocks = Object.keys(more).length === 0 ? branching.blocks : []
    expect(writtenTarget({ document: 'text', blocks, ...more }, [])).toBeUndefined()
  })

  it('is a script of at most 30 lines whatever its case has', async () => {
    const fc = await loadFastCheck()
    const prepared = await prepareTarget(target)
    const parts = partsOf(fc, prepared, { ...options, concurrent: 3, next: {} })
    const from = { module: './blindly.mjs', target: 'target' }
    const violation = { promise: 'once', problem: 'it is\nperformed twice' } as const
    const found = {
      target: 'blindly',
      violation,
      seed: 7,
      from,
      compiled: prepared.compiled,
      context: {},
      written: undefined
    }
    for (const given of fc.sample(caseArbitrary(fc, parts), { numRuns: 100, seed: 7 })) {
      const script = scriptOf({ ...found, given, play: undefined as never })
      expect(script.split('\n').length).toBeLessThanOrEqual(30)
    }
  })

  it('is found by its case alone', async () => {
    const given = {
      inputs: [{}],
      effects: { pay: { troubles: ['loses_done' as const] } }
    }
    const error = await tallyErrorOf(verifyCase(target, given, options))
    expect(error.message).toContain('breaks the promise "once"')
    const honest = await verifyCase(target, { inputs: [{}] }, options)
    expect(honest).toMatchObject({ cases: 1, lives: 1 })
  })

  it('M1: is the same for the same seed', async () => {
    const [first, second] = [
      await tallyErrorOf(verifyMachine(target, options)),
      await tallyErrorOf(verifyMachine(target, options))
    ]
    expect(second.message).toBe(first.message)
  })
})

describe('a verification', () => {
  it('says that a case broke a promise once, and not when it was played again', async () => {
    let asked = 0
    const always = {
      'all but the first': () => {
        asked += 1
        return asked > 1
      }
    }
    const error = await tallyErrorOf(verifyMachine(target, { ...options, cases: 2, always }))
    expect(error.code).toBe('testing.not_repeated')
    expect(error.context.promise).toBe('always')
  })

  it.each([
    [{ at: 3 }, []],
    [
      { at: 3, downMs: 1_000 },
      ['"resumes" in 1 of 1 cases: time passed while the process was down']
    ]
  ])('says what it did not check, after a death %j', async (death, more) => {
    const report = await verifyCase(target, { inputs: [{}], deaths: [death] }, options)
    expect(report).toMatchObject({ crashes: 1, lives: 3 })
    expect(report.notChecked.slice(2)).toEqual(more)
  })
})

const asks = defineBlock({
  name: 'asks',
  version: '1.0.0',
  sideEffects: 'none',
  input: z.object({ id: z.string() }),
  run: (ctx, { id }) => ctx.effect('look', { request: { id } })
})

const misuse: readonly (readonly [code: string, MachineTarget, MachineOptions])[] = [
  ['testing.answer_missing', asks, {}],
  ['testing.inputs_missing', target, {}],
  [
    'testing.answer_broken',
    asks,
    {
      effects: {
        look: {
          answer: () => {
            throw new TypeError('a mistake of the test')
          }
        }
      }
    }
  ],
  [
    'testing.target_unsupported',
    { document: { schema: 'tally-graph/1', name: 'a', version: '1' } },
    {}
  ],
  ['testing.target_invalid', { document: { schema: 'tally-composite/1', name: 'a' } }, {}]
]

describe('what is missing', () => {
  it.each(misuse)('M3: is asked for: %s', async (code, given, asked) => {
    expect((await tallyErrorOf(verifyMachine(given, { cases: 2, ...asked }))).code).toBe(code)
  })

  it('M3: is named: a case without inputs', async () => {
    const error = await tallyErrorOf(verifyCase(target, { inputs: [] }))
    expect(error.code).toBe('testing.case_invalid')
  })

  it('M4: is fast-check, which nothing loads before cases are generated', () => {
    const refuse =
      'export async function resolve(name, context, next) {' +
      " if (name === 'fast-check') throw new Error('it is not there');" +
      ' return next(name, context) }'
    const hook = `import { register } from 'node:module'; register(${JSON.stringify(
      `data:text/javascript,${encodeURIComponent(refuse)}`
    )})`
    const program = [
      `const { verifyMachine } = await import(${JSON.stringify(builtModule('testing/index.js'))})`,
      'await verifyMachine({}).catch(({ code, fix }) => console.log(code, fix))'
    ].join('\n')
    const { stdout } = spawnSync(
      process.execPath,
      [
        '--import',
        `data:text/javascript,${encodeURIComponent(hook)}`,
        ...['--input-type=module', '-e', program]
      ],
      { encoding: 'utf8' }
    )
    expect(stdout).toContain(
      'testing.fast_check_missing Install it: npm install --save-dev fast-check'
    )
  })
})

const unmade: readonly (readonly [what: string, schema: { readonly [key: string]: Json }])[] = [
  ['looks behind', { type: 'string', pattern: '(?<=a)b' }],
  ['is no pattern', { type: 'string', pattern: '(' }],
  ['has no values', { enum: [] }],
  ['has no choices', { anyOf: [] }],
  ['has more items than it may have', { type: 'array', minItems: 9, maxItems: 2 }],
  ['has an empty range', { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 1 }],
  ['refers elsewhere', { $ref: 'https://example.com/schema' }],
  ['refers to what is not there', { $ref: '#/$defs/one' }],
  ['refers to itself', { $ref: '#' }]
]

describe('a schema', () => {
  it.each(unmade)('M3: of which no values can be made is named: one that %s', async (_, answer) => {
    const error = await tallyErrorOf(
      verifyMachine(asks, { cases: 2, effects: { look: { answer } } })
    )
    expect(error.code).toBe('testing.answer_missing')
  })

  it.each(unmade)(
    'M3: of inputs that cannot be made is named: one that %s',
    async (_, inputSchema) => {
      const error = await tallyErrorOf(verifyMachine({ ...asks, inputSchema }, { cases: 2 }))
      expect(error.code).toBe('testing.inputs_missing')
    }
  )
})

describe('inputs', () => {
  const schema = z.object({
    id: z.uuid(),
    kind: z.enum(['a', 'b']),
    amount: z.number().int().min(1).max(9),
    rows: z.array(z.object({ name: z.string().min(1), when: z.iso.date().optional() })).max(3),
    to: z.union([z.email(), z.null()]),
    text: z.string().regex(/^[a-z]{2,4}$/)
  })
  const takes = defineBlock({
    name: 'takes',
    version: '1.0.0',
    sideEffects: 'none',
    input: schema,
    run: (ctx, input) => {
      ctx.state.set('input', JSON.parse(JSON.stringify(input)))
      return {}
    }
  })

  it('are made from the schema of the block', async () => {
    const seen: unknown[] = []
    const report = await verifyMachine(takes, {
      cases: 20,
      eventually: { seen: ({ state }) => seen.push(state['input']) > 0 }
    })
    expect(report.cases).toBe(20)
    for (const one of seen) expect(schema.safeParse(one).success).toBe(true)
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBeGreaterThan(10)
  })

  it('are made by an arbitrary where a path names one', async () => {
    const seen: unknown[] = []
    await verifyMachine(takes, {
      cases: 10,
      inputs: { amount: fc.constant<Json>(7), 'rows.0.name': fc.constant<Json>('first') },
      eventually: { seen: ({ state }) => seen.push(state['input']) > 0 }
    })
    expect(seen.length).toBeGreaterThanOrEqual(10)
    for (const one of seen) expect(one).toMatchObject({ amount: 7 })
  })

  it('of effects are made from a schema too', async () => {
    const answer = z.object({ rate: z.number().int().min(1).max(3) })
    const rates = new Set<unknown>()
    await verifyMachine(asks, {
      cases: 20,
      effects: { look: { answer, troubles: [] } },
      eventually: {
        seen: ({ results }) => rates.add(Object(results[0]?.response.data).rate)
      }
    })
    expect([...rates].sort()).toEqual([1, 2, 3])
  })
})
