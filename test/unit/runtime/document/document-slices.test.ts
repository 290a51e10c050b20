import { describe, expect, it } from 'vitest'
import { hostileDocuments } from '../../../../bench/hostile-documents.js'
import { compilingDocument } from '../../../../src/block/index.js'
import { defineBlock } from '../../../../src/code/index.js'
import {
  atOnce,
  DocumentWork,
  isTallyError,
  type Json,
  limits,
  passSteps,
  spendWork
} from '../../../../src/core/index.js'
import { loadExpressions } from '../../../../src/expression/index.js'
import { parseByKind } from '../../../../src/runtime/document/document-kinds.js'
import { DocumentSlices } from '../../../../src/runtime/document/document-slices.js'
import { workflowKind } from '../../../../src/runtime/document/workflow-kind.js'
import { WorkflowParts } from '../../../../src/workflow/index.js'

const task = defineBlock({ name: 'task', version: '1', run: () => null })

/** What compiling one node with the dearest expression takes. */
const STEPS_OF_NODE_MAX = 100_000

const long = ' '.repeat(limits.DOCUMENT_SLICE_LENGTH + 1)

describe('work in pieces', () => {
  it('lets the event loop have its turn between two pieces of a large document', async () => {
    const seen: string[] = []
    function* pieces() {
      setImmediate(() => seen.push('other work'))
      seen.push('first')
      yield
      seen.push('second')
      return 'result'
    }
    const taken = await new DocumentSlices(long).takeEach(pieces())
    expect(taken).toEqual({ ok: true, value: 'result' })
    expect(seen).toEqual(['first', 'other work', 'second'])
  })

  it('lets the event loop have its turn after much work for a document that is a value', async () => {
    const seen: string[] = []
    function* pieces() {
      for (let piece = 0; piece < 4; piece += 1) {
        setImmediate(() => seen.push('other work'))
        seen.push(`piece ${piece}`)
        passSteps(limits.DOCUMENT_SLICE_STEPS / 2)
        yield
      }
      return 'result'
    }
    await new DocumentSlices({ a: 'value' }).takeEach(pieces())
    expect(seen.slice(0, 4)).toEqual(['piece 0', 'piece 1', 'other work', 'other work'])
  })

  it('counts what all pieces of a document take together', async () => {
    function* pieces() {
      for (let piece = 0; piece < 3; piece += 1) {
        spendWork(limits.DOCUMENT_WORK_MAX / 2)
        yield
      }
      return 'result'
    }
    const taken = await new DocumentSlices(long).takeEach(pieces())
    expect(taken).toMatchObject({ ok: false, diagnostics: [{ reason: 'invalid_graph' }] })
  })

  it('plans, checks and compiles a workflow one after the other, to what it is at once', async () => {
    const one = hostileDocuments.find(({ name }) => name === 'a chain of reads')
    const document = JSON.parse(one?.make(20_000) ?? '') as Json
    const parts = new WorkflowParts()
    parts.use(await loadExpressions())
    const kind = workflowKind(parts)
    const pieces = kind.pieces(document, {})
    let yields = 0
    let step = pieces.next()
    for (; step.done !== true; step = pieces.next()) yields += 1
    expect(yields).toBeGreaterThan(0)
    expect(JSON.stringify(step.value)).toBe(JSON.stringify(atOnce(kind.pieces(document, {}))))
  })
})

describe('a chart of a large document', () => {
  const named = ['many expressions', 'expressions of sums', 'a chain', 'unknown blocks'] as const

  it.each(named)('is compiled in slices of few steps: %s', async (name) => {
    const one = hostileDocuments.find((document) => document.name === name)
    const parsed = parseByKind(JSON.parse(one?.make(60_000) ?? '') as Json, { own: [] })
    if (!parsed.ok) throw new Error(parsed.diagnostics[0]?.message)
    const nothing = () => undefined
    const options = {
      registry: {
        block: (name: string) => (name === 'task' ? task : undefined),
        composite: nothing,
        condition: nothing,
        repair: nothing
      },
      expressions: await loadExpressions()
    }
    const work = new DocumentWork()
    const pieces = compilingDocument(parsed.definition, options)
    const slices: number[] = []
    for (let isDone = false; !isDone; ) {
      const before = work.steps
      isDone = work.during(() => pieces.next()).done === true
      slices.push(work.steps - before)
    }
    expect(slices.length).toBeGreaterThan(1)
    expect(Math.max(...slices)).toBeLessThan(limits.DOCUMENT_SLICE_STEPS + STEPS_OF_NODE_MAX)
  })
})

it('a piece that throws ends the work with its error', async () => {
  // biome-ignore lint/correctness/useYield: it throws before the first.
  function* pieces(): Generator<undefined, string, undefined> {
    throw new Error('a defect')
  }
  const ended = new DocumentSlices(long).takeEach(pieces()).catch((error: unknown) => error)
  expect(isTallyError(await ended)).toBe(false)
})
