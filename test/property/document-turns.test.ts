import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type HostileDocument,
  type HostileKind,
  hostileDocuments
} from '../../bench/hostile-documents.js'
import { readingManifest } from '../../src/capability/index.js'
import { defineBlock } from '../../src/code/index.js'
import { DocumentWork, inSlices, type Json, limits } from '../../src/core/index.js'
import { createRuntime, type Runtime } from '../../src/runtime/index.js'
import { checkAisDocument } from '../../src/workflow/index.js'
import { isLong, isSoak } from '../support/effort.js'
import { stepsOf } from '../support/steps-between-turns.js'

/** A slice that is nearly full, and the longest piece: an expression of loops in each other. */
const STEPS_BETWEEN_TURNS_MAX = 6 * limits.DOCUMENT_SLICE_STEPS

const BYTES = 250_000
/** Of those that the long form alone reads. */
const OTHER_BYTES = 125_000
const MOST_BYTES = 0.95 * limits.DOCUMENT_BYTES_MAX

/** The first of a kind is read by all, in the long form as large as it may be; the others there. */
function bytesOf(isFirst: boolean): number {
  if (isSoak || (isLong && isFirst)) return MOST_BYTES
  return isFirst ? BYTES : OTHER_BYTES
}

/** Of each reader, those of whose parts one is as large as the document. */
const dearest: Readonly<Record<HostileKind, readonly string[]>> = {
  text: ['numbers in JSON', 'brackets side by side'],
  composite: [
    'one input with many references',
    'graphs inside graphs',
    'nodes that lead to each other',
    'fallbacks to missing providers',
    'the longest fallbacks',
    'one input with many expressions',
    'references below deep nesting'
  ],
  plan: ['many numbers', 'one node that reads what it does not wait for'],
  graph: ['unknown dependencies', 'one step that waits for all', 'many edges', 'many numbers'],
  flow: [
    'agents that may call each other',
    'many numbers',
    'nodes of the wrong type',
    'custom kinds'
  ],
  workflow: ['many bad values'],
  bundle: [
    'one value with guarded references',
    'one value with references that lead nowhere',
    'a chain of reads',
    'many nodes of one heavy query'
  ],
  protocol: [
    'ABI types with many dimensions',
    'a test with many arguments',
    'a test of a long list',
    'many tests'
  ],
  pack: ['includes of the wrong type', 'overrides with refused names'],
  manifest: ['unknown keys', 'capabilities that fit neither form']
}

/** Of a small document a loop that is not interrupted is many slices, if these are small too. */
const SMALL_BYTES = 100_000
const SMALL_SLICE_STEPS = 2_000

/** A full slice and a piece of it. A value of a workflow is searched in one native call. */
function stepsOfSmallSliceMax(kind: HostileKind, text: string): number {
  return 3 * SMALL_SLICE_STEPS + (kind === 'bundle' ? text.length / 16 : 0)
}

const task = defineBlock({ name: 'task', version: '1', run: () => null })

describe('between two turns of the event loop', () => {
  let runtime: Runtime

  beforeAll(async () => {
    runtime = await createRuntime({ location: 'memory:', blocks: [task] })
  })

  afterAll(() => runtime.close())

  async function read(kind: HostileKind, document: string | Json): Promise<void> {
    if (kind === 'manifest') {
      await inSlices(readingManifest(String(document), {}), new DocumentWork())
    } else if (kind === 'protocol' || kind === 'pack') await checkAisDocument(String(document))
    else await runtime.lint(document)
  }

  const chosen = ({ kind, name }: HostileDocument) => dearest[kind].includes(name)

  it.each(Object.keys(dearest) as HostileKind[])(
    'a bounded part of a hostile %s is read, however it is filled',
    async (kind) => {
      const [first] = dearest[kind]
      const documents = hostileDocuments.filter((one) => {
        return one.kind === kind && (isLong || one.name === first)
      })
      expect(documents).not.toEqual([])
      const held: string[] = []
      for (const { name, make } of documents) {
        const { most } = await stepsOf(() => read(kind, make(bytesOf(name === first))))
        if (most > STEPS_BETWEEN_TURNS_MAX) held.push(`${name}: ${Math.round(most)} steps`)
      }
      expect(held).toEqual([])
    }
  )

  it.each([
    ['plan', 'many numbers'],
    ['graph', 'many edges'],
    ['composite', 'one input with many references']
  ] as const)('a bounded part of a %s that is a value is read: %s', async (kind, name) => {
    const one = hostileDocuments.find((other) => other.kind === kind && other.name === name)
    const value = JSON.parse(one?.make(BYTES) ?? '') as Json
    const { most, turns } = await stepsOf(() => read(kind, value))
    expect(most).toBeLessThanOrEqual(STEPS_BETWEEN_TURNS_MAX)
    expect(turns).toBeGreaterThan(2)
  })

  it.each(Object.keys(dearest) as HostileKind[])(
    'each loop over a hostile %s can be interrupted',
    async (kind) => {
      const documents = hostileDocuments.filter((one) => one.kind === kind).filter(chosen)
      expect(documents.length).toBeGreaterThanOrEqual(dearest[kind].length)
      const held: string[] = []
      for (const { name, make } of documents) {
        const text = make(SMALL_BYTES)
        const act = () => read(kind, text)
        const { mostOfSlice } = await stepsOf(act, { sliceSteps: SMALL_SLICE_STEPS })
        if (mostOfSlice > stepsOfSmallSliceMax(kind, text)) held.push(`${name}: ${mostOfSlice}`)
      }
      expect(held).toEqual([])
    }
  )
})
