import { describe, expect, it } from 'vitest'
import { hostileDocuments } from '../../../bench/hostile-documents.js'
import { isTallyError, type Json, limits, spendWork } from '../../../src/core/index.js'
import { loadExpressions } from '../../../src/expression/index.js'
import { DocumentSlices } from '../../../src/runtime/document/document-slices.js'
import { workflowKind } from '../../../src/runtime/document/workflow-kind.js'
import { WorkflowParts } from '../../../src/workflow/index.js'

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
    const pieces = kind.pieces?.(document, {})
    let yields = 0
    let step = pieces?.next()
    for (; step?.done === false; step = pieces?.next()) yields += 1
    expect(yields).toBeGreaterThan(0)
    expect(JSON.stringify(step?.value)).toBe(JSON.stringify(kind.parse(document, {})))
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
