import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Output } from '../../../src/cli/frame/output.js'
import { barText, ProgressBar } from '../../../src/cli/frame/progress.js'
import { importSnapshot } from '../../../src/ledger/index.js'
import { createRuntime, openReader, verifyLocation } from '../../../src/runtime/index.js'
import { withProgress } from '../../../src/runtime/service/work-progress.js'
import { Project } from '../../support/project.js'

/** Progress as the library tells it, and as the command line draws it. */

let project: Project
beforeAll(async () => {
  project = await Project.create()
  const location = project.path('ledger')
  const tally = await createRuntime({ location, create: 'if-absent', insecurePlaintextKey: true })
  await tally.close()
  const words = ['--dir', 'ledger']
  for (const id of ['a', 'b']) await project.tally(['run', 'greet.yaml', '--id', id, ...words])
})
afterAll(() => project.remove())

interface Told {
  readonly phase: string
  readonly done: number
  readonly total: number
}

/** That each phase goes up to all there is, and none begins again. */
function expectWhole(told: readonly Told[], phases: readonly string[]): void {
  expect([...new Set(told.map(({ phase }) => phase))]).toEqual(phases)
  for (const phase of phases) {
    const done = told.filter((one) => one.phase === phase)
    const counts = done.map((one) => one.done)
    expect(counts).toEqual(counts.toSorted((one, other) => one - other))
    expect(done.at(-1)).toMatchObject({ done: done.at(-1)?.total })
    expect(done.at(-1)?.total).toBeGreaterThan(0)
  }
}

describe('progress', () => {
  it('is told of a verification of what none holds', async () => {
    const told: Told[] = []
    const options = { notes: [], onProgress: (one: Told) => told.push(one) }
    expect((await verifyLocation(project.path('ledger'), options)).ok).toBe(true)
    expectWhole(told, ['records'])
  })

  it('is told of an export and an import, of counts that are there', async () => {
    const reader = await openReader(project.path('ledger'))
    const params = { path: project.path('a.snapshot'), unsigned: true }
    const signal = new AbortController().signal
    const events: (Told & { readonly report?: object })[] = []
    const exporting = reader.service({ method: 'exporting', params, signal })
    for await (const event of exporting as AsyncIterable<unknown>) events.push(event as Told)
    await reader.close()
    expectWhole(events.slice(0, -1), ['verifying', 'writing'])
    expect(events.at(-1)).toMatchObject({ phase: 'done', report: { receipts: 4 } })
    const told: Told[] = []
    const onProgress = (one: Told) => told.push(one)
    const imported = await importSnapshot(project.path('copy'), { file: params.path, onProgress })
    expect(imported.receipts).toBe(4)
    expectWhole(told, ['reading', 'verifying'])
  })

  it('keeps no work waiting for a reader, tells a slow one less, and throws what the work does', async () => {
    const events = withProgress(async (report) => {
      for (let done = 1; done <= 10_000; done += 1) report({ phase: 'one', done, total: 10_000 })
      return 'report'
    })
    const told = []
    for await (const event of events) told.push(event)
    expect(told.length).toBeLessThanOrEqual(2)
    expect(told.at(-1)).toEqual({ phase: 'done', report: 'report' })
    const failing = withProgress(() => Promise.reject(new Error('no disk')))
    await expect(failing.next()).rejects.toThrow('no disk')
  })
})

class Terminal {
  readonly isTTY: boolean
  readonly columns = 40
  shown = ''

  constructor(isTTY = true) {
    this.isTTY = isTTY
  }

  write(chunk: string, done?: () => void): boolean {
    this.shown += chunk
    done?.()
    return true
  }
}

describe('a bar', () => {
  const at = { label: 'verifying', done: 1_250, total: 5_000, unit: 'commits' }

  it('has what was counted', () => {
    expect(barText(at)).toBe('verifying  ██████░░░░░░░░░░░░░░░░░░  25%  1,250 of 5,000 commits')
    expect(barText({ ...at, done: 0, total: 0 })).toContain('100%  0 of 0')
  })

  it('is not drawn of what is short, and leaves no line', () => {
    const stderr = new Terminal()
    const bar = new ProgressBar(stderr)
    bar.show(at)
    bar.end()
    expect(stderr.shown).toBe('')
  })

  it('asks for no progress without a terminal, with --json, and of a dumb one', async () => {
    const asked = async (stderr: Terminal, isJson: boolean, environment = {}) => {
      const output = new Output({ stdout: new Terminal(), stderr, isJson, environment })
      return output.withProgress(async (report) => report !== undefined)
    }
    expect(await asked(new Terminal(), false)).toBe(true)
    expect(await asked(new Terminal(false), false)).toBe(false)
    expect(await asked(new Terminal(), true)).toBe(false)
    expect(await asked(new Terminal(), false, { TERM: 'dumb' })).toBe(false)
  })
})
