import { describe, expect, it, vi } from 'vitest'
import {
  type HostileDocument,
  type HostileKind,
  hostileDocuments
} from '../../bench/hostile-documents.js'
import { parseManifest } from '../../src/capability/index.js'
import { defineBlock } from '../../src/code/index.js'
import { DocumentWork, type Finding, type Json, limits } from '../../src/core/index.js'
import { createRuntime, type Runtime } from '../../src/runtime/index.js'
import { checkAisDocument } from '../../src/workflow/index.js'
import { cases, isTaken } from '../support/effort.js'
import { OperationCount } from '../support/operations.js'

/** Size of the smaller text of a pair, and how often the larger one has it. */
const BYTES = cases({ usual: 4_000, long: 8_000, soak: 16_000 })
const TIMES = 4
/** What the larger text may cost more than in proportion, and that whatever it costs is paid. */
const GROWTH_MAX = 1.5 * TIMES
const NOISE = 200_000
const OPERATIONS_OF_STEP_MAX = 60

const kinds = [...new Set(hostileDocuments.map(({ kind }) => kind))]
const task = defineBlock({ name: 'task', version: '1', run: () => null })

interface Reading {
  readonly findings: readonly Finding[]
  readonly steps: number
  readonly operations: number
}

/** Reads documents and counts; a text is never given twice, since a runtime keeps what it has. */
class CountingReader {
  readonly #spend = vi.spyOn(DocumentWork.prototype, 'pay')
  readonly #operations = new OperationCount()
  #texts = 0

  constructor(readonly runtime: Runtime) {}

  async read({ kind, make }: HostileDocument, bytes: number): Promise<Reading> {
    this.#texts += 1
    const text = `${make(bytes)}${'\n'.repeat(this.#texts)}`
    this.#spend.mockClear()
    this.#operations.take()
    const findings = await this.#findings(kind, text)
    const operations = this.#operations.take()
    const steps = this.#spend.mock.calls.reduce((sum, [one]) => sum + one, 0)
    return { findings, steps, operations }
  }

  async #findings(kind: HostileKind, text: string): Promise<readonly Finding[]> {
    if (kind === 'protocol' || kind === 'pack') return (await checkAisDocument(text)).issues
    if (kind !== 'manifest') return this.runtime.lint(text)
    const parsed = parseManifest(JSON.parse(text) as Json)
    return parsed.ok ? [] : parsed.refusals
  }

  [Symbol.dispose](): void {
    this.#operations[Symbol.dispose]()
    this.#spend.mockRestore()
  }
}

async function reading(act: (reader: CountingReader) => Promise<void>): Promise<void> {
  await using runtime = await createRuntime({ location: 'memory:', blocks: [task] })
  using reader = new CountingReader(runtime)
  await act(reader)
}

describe('hostile documents', () => {
  it.each(kinds)(
    'work of reading a %s grows with its bytes, or is paid and bounded',
    async (kind) => {
      const all = hostileDocuments.filter((one) => one.kind === kind)
      // Eleven has no factor in common with the six values that each slot is filled with.
      const chosen = all.filter((_, place) => isTaken(place, 11))
      const grown: string[] = []
      await reading(async (reader) => {
        // What is loaded with the first document of a kind is not counted.
        for (const one of all.slice(0, 2)) await reader.read(one, 1_000)
        for (const one of chosen) {
          const small = await reader.read(one, BYTES)
          const large = await reader.read(one, BYTES * TIMES)
          const isLinear = large.operations <= GROWTH_MAX * small.operations + NOISE
          const isPaid = large.operations <= OPERATIONS_OF_STEP_MAX * large.steps
          if (!isLinear && !isPaid) {
            grown.push(
              `${one.name}: ${small.operations} -> ${large.operations}, ${large.steps} steps`
            )
          }
          expect(large.findings.length, one.name).toBeLessThanOrEqual(
            limits.DOCUMENT_FINDINGS_MAX + 1
          )
        }
      })
      expect(grown).toEqual([])
    }
  )

  it('a document whose parts refer to each other too often is refused before it is expanded', async () => {
    const one = hostileDocuments.find(({ name }) => name === 'agents that may call each other')
    await reading(async (reader) => {
      const { findings, operations } = await reader.read(one as HostileDocument, 200_000)
      expect(findings.map(({ message }) => message)).toEqual([
        `Checking the document takes more than ${limits.DOCUMENT_WORK_MAX} steps.`
      ])
      expect(operations).toBeLessThan(OPERATIONS_OF_STEP_MAX * limits.DOCUMENT_WORK_MAX)
    })
  })

  it('the event loop has its turns while a large document is checked', async () => {
    await using runtime = await createRuntime({ location: 'memory:', blocks: [task] })
    const one = hostileDocuments.find(({ name }) => name === 'steps with unknown keys')
    const text = (one as HostileDocument).make(2 * limits.DOCUMENT_SLICE_LENGTH)
    let turns = 0
    let isDone = false
    const turn = () => {
      turns += 1
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    const found = await runtime.lint(text)
    isDone = true
    expect(found.at(-1)?.more).toBeGreaterThan(0)
    expect(turns).toBeGreaterThanOrEqual(2)
  })
})
