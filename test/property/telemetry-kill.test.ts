import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtModule } from '../support/built.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-telemetry-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const worker = fileURLToPath(new URL('telemetry-kill/worker.mjs', import.meta.url))

interface Line {
  readonly name: string
  readonly id: string
  readonly traceId: string
  readonly parent?: string
  readonly startTime: readonly [number, number]
}

/** A process that dies there, or nowhere; the spans that have left by then. */
function life(name: string, dies: string) {
  const [location, file] = [join(folder, name), join(folder, `${name}.jsonl`)]
  const modules = { library: builtModule('index.js'), telemetry: builtModule('telemetry/index.js') }
  const given = JSON.stringify({ ...modules, location, file, dies })
  const ended = spawnSync(process.execPath, [worker, given], { encoding: 'utf8' })
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  const spans = lines.map((line) => JSON.parse(line) as Line)
  return { ended, spans: spans.filter(({ name: of }) => of !== 'commit' && of !== 'verify') }
}

const namesOf = (spans: readonly Line[]) => spans.map(({ name }) => name)

describe('telemetry of processes that are killed', () => {
  it('T1: gives each span once, with its ids, where one that dies in an effect is resumed', () => {
    const names = ['block first', 'effect bank.pay', 'block pay', 'block inner', 'run order']
    const first = life('effect', 'effect')
    expect(first.ended.signal, first.ended.stderr).toBe('SIGKILL')
    expect(namesOf(first.spans)).toEqual(['block first'])
    const second = life('effect', 'nowhere')
    expect(second.ended.status, second.ended.stderr).toBe(0)
    expect(namesOf(second.spans)).toEqual(names)
    expect(second.spans[0]).toEqual(first.spans[0])
    const nameOf = (id: string | undefined) => second.spans.find((span) => span.id === id)?.name
    const parents = second.spans.map(({ parent }) => nameOf(parent))
    expect(parents).toEqual(['run order', 'block pay', 'block inner', 'run order', undefined])
    expect(new Set(second.spans.map(({ id }) => id)).size).toBe(names.length)
    // What began in the first life begins there.
    const [block] = first.spans
    const run = second.spans.find(({ name }) => name === 'run order')
    expect(run?.startTime).toEqual(block?.startTime)
  })

  it('T1: loses what was durable and had not left, and never gives it again', () => {
    const first = life('export', 'export')
    expect(first.ended.signal, first.ended.stderr).toBe('SIGKILL')
    expect(first.spans).toEqual([])
    const second = life('export', 'nowhere')
    expect(second.ended.status, second.ended.stderr).toBe(0)
    expect(namesOf(second.spans)).toEqual(
      expect.arrayContaining(['effect bank.pay', 'block pay', 'block inner', 'run order'])
    )
    expect(namesOf(second.spans)).not.toContain('block first')
  })
})
