import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReceiptView } from '../../src/runtime/index.js'
import { documentOf, Project } from '../support/project.js'

/** The command line as a user types it, under plain Node. */
let project: Project
beforeAll(async () => {
  project = await Project.create()
  const made = await project.tally(['init', '--insecure-plaintext-key'])
  expect(made.code).toBe(0)
})
afterAll(() => project.remove())

describe('tally run', () => {
  it('runs a document, says where its blocks come from, and leaves a receipt', async () => {
    const run = await project.tally([
      'run',
      'greet.yaml',
      '--id',
      'one',
      '--inputs',
      '{"name":"Ada"}'
    ])
    expect(run).toMatchObject({ code: 0 })
    expect(run.stdout).toContain('done one {"greeting":"hello Ada"}')
    expect(run.stderr).toContain(`configuration ${project.path('tally.config.ts')}`)
    expect(run.stderr).toContain('greeting')
    const log = await project.tally(['log', '--run', 'one', '--json'])
    expect(documentOf(log, 'receipt')).toMatchObject({ result: { greeting: 'hello Ada' } })
  })

  it('gives JSON lines with a $type each, and logs nowhere but on stderr', async () => {
    const run = await project.tally(['run', 'greet.yaml', '--id', 'lines', '--json'])
    const lines = run.stdout.trimEnd().split('\n')
    expect(run.documents).toHaveLength(lines.length)
    expect(run.documents.every((document) => typeof document['$type'] === 'string')).toBe(true)
    expect(run.documents.at(0)).toMatchObject({ $type: 'event', type: 'run.started' })
    expect(run.documents.at(-1)).toMatchObject({ $type: 'result', id: 'lines', status: 'done' })
  })

  it('L6: the same id shows the first result, and refuses other work', async () => {
    const words = ['run', 'greet.yaml', '--id', 'same', '--json', '--inputs']
    const first = await project.tally([...words, '{"name":"Bo"}'])
    const second = await project.tally([...words, '{"name":"Bo"}'])
    expect(second.code).toBe(0)
    expect(documentOf(second, 'result')).toEqual(documentOf(first, 'result'))
    const other = await project.tally([...words, '{"name":"Cy"}'])
    expect(other.code).toBe(2)
    expect(documentOf(other, 'error')).toMatchObject({ code: 'run.id_reused' })
    expect(other.documents.some((document) => document['$type'] === 'result')).toBe(false)
  })

  it('B1: gives the run its context, and its receipts the trace of the caller', async () => {
    const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
    const words = ['run', 'greet.yaml', '--id', 'traced']
    const given = ['--context', '{"tenant":"a"}', '--trace', `00-${traceId}-${spanId}-01`]
    expect(await project.tally([...words, ...given])).toMatchObject({ code: 0 })
    const log = await project.tally(['log', '--run', 'traced', '--json'])
    const runs = log.documents.flatMap(({ $type, ...view }) => {
      const { receipt } = view as { readonly receipt?: ReceiptView['receipt'] }
      return $type === 'receipt' ? [receipt?.inputPayload.run] : []
    })
    expect(runs).toHaveLength(2)
    for (const run of runs) expect(run).toMatchObject({ trace: { traceId, spanId } })
    expect(runs.at(-1)?.contextHash).toMatch(/^[0-9a-f]{64}$/)
    for (const wrong of [
      ['--context', '[]'],
      ['--context', '{'],
      ['--trace', 'mine']
    ]) {
      expect((await project.tally([...words, ...wrong])).code, wrong.join(' ')).toBe(2)
    }
  })

  it('exits 1 when the run failed, with the reason', async () => {
    const run = await project.tally(['run', 'fail.yaml', '--id', 'failing'])
    expect(run.code).toBe(1)
    expect(run.stdout).toContain('failed failing no_luck')
    expect(run.stdout).toContain('because')
    const again = await project.tally(['run', 'fail.yaml', '--id', 'failing'])
    expect(again.code).toBe(1)
  })

  it('reads inputs from a file', async () => {
    await project.write('inputs.json', '{"name":"Di"}')
    const run = await project.tally([
      'run',
      'greet.yaml',
      '--id',
      'file',
      '--inputs',
      '@inputs.json'
    ])
    expect(run.stdout).toContain('hello Di')
  })
})

describe('waits', () => {
  it('W7: a run that waits exits 4 with the command to type, which ends it', async () => {
    const run = await project.tally(['run', 'confirm.yaml', '--id', 'sure', '--json'])
    expect(run.code).toBe(4)
    const { waits } = documentOf(run, 'waiting') as {
      readonly waits: readonly { readonly commands: readonly string[]; readonly token: string }[]
    }
    const command = waits[0]?.commands.find((one) => one.startsWith('tally approve'))
    expect(command).toBe(`tally approve sure ${waits[0]?.token}`)
    const words = (command ?? '').split(' ').slice(1)
    const approved = await project.tally([...words, '--by', 'ops', '--json'])
    expect(approved.code).toBe(0)
    expect(documentOf(approved, 'answer')).toMatchObject({ action: 'approve' })
    expect(documentOf(approved, 'result')).toMatchObject({ status: 'done' })
    const stale = await project.tally([...words, '--json'])
    expect(stale.code).toBe(2)
    expect(documentOf(stale, 'error')).toMatchObject({ code: 'cli.no_wait' })
  })

  it('W7: a node name and a wrong digest are refused, and change nothing', async () => {
    await project.tally(['run', 'confirm.yaml', '--id', 'careful'])
    const byName = await project.tally(['approve', 'careful', 'first'])
    expect(byName.code).toBe(2)
    expect(byName.stderr).toContain('first is the name of a node')
    const digest = '0'.repeat(64)
    const wrong = await project.tally(['approve', 'careful', '--digest', digest, '--json'])
    expect(wrong.code).toBe(2)
    expect(documentOf(wrong, 'error')).toMatchObject({ code: 'run.answer_refused' })
    const denied = await project.tally(['deny', 'careful', '--json'])
    expect(denied.code).toBe(1)
    expect(documentOf(denied, 'result')).toMatchObject({ response: { reason: 'denied' } })
  })

  it('B3: resume gives the value that was waited for', async () => {
    expect((await project.tally(['run', 'ask.yaml', '--id', 'asked'])).code).toBe(4)
    const only = await project.tally(['resume', 'asked'])
    expect(only.code).toBe(4)
    const given = await project.tally(['resume', 'asked', '--value', '42'])
    expect(given).toMatchObject({ code: 0 })
    expect(given.stdout).toContain('{"answer":42}')
  })

  it('cancel ends a run that waits', async () => {
    await project.tally(['run', 'ask.yaml', '--id', 'unwanted'])
    const cancelled = await project.tally(['cancel', 'unwanted', '--reason', 'no need', '--json'])
    expect(cancelled.code).toBe(0)
    expect(documentOf(cancelled, 'run')).toMatchObject({ status: 'cancelled' })
  })
})

describe('Ctrl-C', () => {
  it('parks the run, says how to continue, and exits 130; resume then finishes it', async () => {
    const run = project.start(['run', 'slow.yaml', '--id', 'long', '--json'])
    await run.says('effect.sealed')
    run.child.kill('SIGINT')
    const ended = await run.ended
    expect(ended.code).toBe(130)
    expect(ended.stderr).toContain('Continue with: tally resume long')
    expect(documentOf(ended, 'interrupted')).toMatchObject({ command: 'tally resume long' })
    const resumed = await project.tally(['resume', 'long'])
    expect(resumed.code).toBe(0)
    expect(resumed.stdout).toContain('{"turns":50}')
  })

  it('a killed run continues where it was, also by its first command', async () => {
    const run = project.start(['run', 'slow.yaml', '--id', 'killed', '--json'])
    await run.says('effect.sealed')
    run.child.kill('SIGKILL')
    await run.ended
    const again = await project.tally(['run', 'slow.yaml', '--id', 'killed', '--json'])
    expect(again.code).toBe(0)
    expect(again.documents.at(0)).toMatchObject({ type: 'run.resumed' })
  })
})
