import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type HostileDocument,
  type HostileKind,
  hostileDocuments
} from '../../bench/hostile-documents.js'
import { defineBlock } from '../../src/block/index.js'
import { parsingManifest } from '../../src/capability/index.js'
import { DocumentWork, inSlices, type Json, limits } from '../../src/core/index.js'
import { createRuntime, type Runtime } from '../../src/runtime/index.js'
import { checkAisDocument } from '../../src/workflow/index.js'
import { isLong } from '../support/effort.js'

/** A slice that is nearly full, and the longest piece: the search for what is large. */
const STEPS_BETWEEN_TURNS_MAX = 2.5 * limits.DOCUMENT_SLICE_STEPS

/** In the long form all are read, as large as they may be. */
const BYTES = isLong ? 0.95 * limits.DOCUMENT_BYTES_MAX : 250_000

/** Of each reader, those of whose parts one is as large as the document. */
const dearest: Readonly<Record<HostileKind, readonly string[]>> = {
  text: ['numbers in JSON', 'brackets side by side'],
  composite: [
    'graphs inside graphs',
    'fallbacks to missing providers',
    'one input with many references',
    'one input with many expressions',
    'references below deep nesting'
  ],
  plan: ['many numbers', 'one node that reads what it does not wait for'],
  graph: ['unknown dependencies', 'many edges', 'many numbers'],
  flow: ['agents that may call each other', 'many numbers', 'nodes of the wrong type'],
  workflow: ['many bad values'],
  bundle: [
    'one value with guarded references',
    'one value with references that lead nowhere',
    'a chain of reads'
  ],
  protocol: ['ABI types with many dimensions'],
  pack: ['includes of the wrong type'],
  manifest: ['unknown keys', 'capabilities that fit neither form']
}

const task = defineBlock({ name: 'task', version: '1', run: () => null })

/** Counts the steps of readers from one turn of the event loop to the next. */
class StepsBetweenTurns {
  most = 0
  turns = 0
  #steps = 0
  #isDone = false
  readonly #spy

  constructor() {
    const { during } = DocumentWork.prototype
    const count = (steps: number) => {
      this.#steps += steps
    }
    this.#spy = vi.spyOn(DocumentWork.prototype, 'during').mockImplementation(function <Result>(
      this: DocumentWork,
      act: () => Result
    ): Result {
      try {
        return during.call(this, act) as Result
      } finally {
        count(this.sliceSteps)
      }
    })
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.turns += 1
    this.most = Math.max(this.most, this.#steps)
    this.#steps = 0
    if (!this.#isDone) setImmediate(() => this.#turn())
  }

  [Symbol.dispose](): void {
    this.#isDone = true
    this.#turn()
    this.#spy.mockRestore()
  }
}

describe('between two turns of the event loop', () => {
  let runtime: Runtime

  beforeAll(async () => {
    runtime = await createRuntime({ location: 'memory:', blocks: [task] })
  })

  afterAll(() => runtime.close())

  async function read(kind: HostileKind, document: string | Json): Promise<void> {
    if (kind === 'manifest') {
      const manifest = typeof document === 'string' ? (JSON.parse(document) as Json) : document
      await inSlices(parsingManifest(manifest), new DocumentWork())
    } else if (kind === 'protocol' || kind === 'pack') await checkAisDocument(String(document))
    else await runtime.lint(document)
  }

  async function stepsOf(kind: HostileKind, document: string | Json): Promise<StepsBetweenTurns> {
    using steps = new StepsBetweenTurns()
    await read(kind, document)
    return steps
  }

  const chosen = ({ kind, name }: HostileDocument) => isLong || dearest[kind].includes(name)

  it.each(Object.keys(dearest) as HostileKind[])(
    'a bounded part of a hostile %s is read, however it is filled',
    async (kind) => {
      const documents = hostileDocuments.filter((one) => one.kind === kind).filter(chosen)
      expect(documents.length).toBeGreaterThanOrEqual(dearest[kind].length)
      const held: string[] = []
      for (const { name, make } of documents) {
        const { most } = await stepsOf(kind, make(BYTES))
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
    const { most, turns } = await stepsOf(kind, JSON.parse(one?.make(BYTES) ?? '') as Json)
    expect(most).toBeLessThanOrEqual(STEPS_BETWEEN_TURNS_MAX)
    expect(turns).toBeGreaterThan(2)
  })
})
