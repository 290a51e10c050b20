import { cp } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { alterRecords } from '../../src/cli/demo/alter.js'
import { holdStore } from '../../src/ledger/index.js'
import type { Browser } from '../support/console/browser.js'
import { type Opened, openedConsole } from '../support/console/opened.js'
import { documentOf, Project, type Started } from '../support/project.js'
import { expectVerifyFailure } from '../support/verified-close.js'

/** `tally inspect`: the console of a ledger that is held, closed, a snapshot, or altered. */

let project: Project
const started: Started[] = []

beforeAll(async () => {
  project = await Project.withRun()
  await cp(project.path('.tally'), project.path('altered'), { recursive: true })
  const held = await holdStore(project.path('altered'))
  const [identity] = held.location.marker.identities
  if (identity === undefined) throw new Error('the ledger has no identity')
  const change = (text: string) => text.replaceAll('"runId":"first"', '"runId":"forged"')
  expect(await alterRecords(held.store, identity, change)).toBeGreaterThan(0)
  await held.close()
})
afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.kill('SIGINT')
    await ended
  }
})
afterAll(async () => {
  expectVerifyFailure('receiptHash')
  await project.remove()
})

async function opened(...words: readonly string[]): Promise<Opened> {
  const console = await openedConsole(project, ['inspect', ...words])
  started.push(console.command)
  return console
}

/** A process that holds the ledger as long as its run waits. */
async function owner(id: string): Promise<Started> {
  const process = project.start(['run', 'ask.yaml', '--id', id, '--wait', '--json'])
  started.push(process)
  await process.says('run.parked')
  return process
}

interface Shown {
  readonly status: string
  readonly waits: readonly { readonly token: string; readonly digest: string }[]
}

async function answer(browser: Browser, id: string) {
  const { waits } = (await browser.call('show', { id })) as unknown as Shown
  const [{ token, digest } = { token: '', digest: '' }] = waits
  const given = { id, token, digest, action: 'resume', value: 42, commandId: `answer-${id}` }
  return browser.post('/api/message', JSON.stringify(given))
}

async function idsOf(browser: Browser): Promise<readonly unknown[]> {
  const ids: unknown[] = []
  for await (const event of browser.events({ method: 'POST', path: '/api/runs', body: '{}' })) {
    if (event === 'comment' || event.type !== 'message') continue
    ids.push((event.data as { readonly id: string }).id)
  }
  return ids
}

describe('tally inspect', () => {
  it('reads a ledger that nothing holds, changes nothing, and lets go of it', async () => {
    const { browser, command } = await opened('first', '--json')
    expect(await browser.call('status')).toMatchObject({ mode: 'ready', readOnly: true })
    expect(await browser.call('show', { id: 'first' })).toMatchObject({ status: 'done' })
    expect(await idsOf(browser)).toContain('first')
    const refused = await browser.post('/api/cancel', '{"id":"first"}')
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([403, 'ledger.read_only'])
    const run = await project.tally(['run', 'greet.yaml', '--id', 'meanwhile'])
    expect(run.code).toBe(0)
    expect(await browser.call('show', { id: 'meanwhile' })).toMatchObject({ status: 'done' })
    command.child.kill('SIGINT')
    const ended = await command.ended
    expect(ended.code).toBe(130)
    expect(documentOf(ended, 'console')).toMatchObject({ run: 'first', readOnly: false })
  })

  it('answers a wait at the process that holds the ledger, and reads on after it', async () => {
    const holder = await owner('asked')
    const { browser } = await opened()
    expect(await browser.call('status')).toMatchObject({ process: holder.child.pid })
    const answered = await answer(browser, 'asked')
    expect(JSON.parse(answered.text)).toMatchObject({ result: { accepted: true } })
    expect((await holder.ended).code).toBe(0)
    expect(await browser.call('show', { id: 'asked' })).toMatchObject({ status: 'done' })
    expect(await browser.call('status')).toMatchObject({ readOnly: true })
  })

  it('takes no answer with --read-only', async () => {
    const holder = await owner('kept')
    const { browser } = await opened('--read-only')
    expect(await browser.call('status')).toMatchObject({ readOnly: true })
    const refused = await answer(browser, 'kept')
    expect(JSON.parse(refused.text).error.code).toBe('console.read_only')
    expect(await browser.call('show', { id: 'kept' })).toMatchObject({ status: 'waiting' })
    holder.child.kill('SIGINT')
    await holder.ended
  })

  it('shows again what a holder does that came after one that was killed', async () => {
    const first = await owner('lasting')
    const { browser } = await opened()
    expect(await browser.call('status')).toMatchObject({ process: first.child.pid })
    first.child.kill('SIGKILL')
    await first.ended
    const second = project.start(['resume', 'lasting', '--wait', '--json'])
    started.push(second)
    await second.says('run.parked')
    expect(await browser.call('status')).toMatchObject({ process: second.child.pid })
    await answer(browser, 'lasting')
    expect((await second.ended).code).toBe(0)
  })

  it('shows a snapshot file', async () => {
    const file = project.path('ledger.snapshot')
    expect((await project.tally(['export', file, '--unsigned'])).code).toBe(0)
    const { browser } = await opened('--dir', file)
    expect(await browser.call('status')).toMatchObject({ location: file, readOnly: true })
    expect(await browser.call('show', { id: 'first' })).toMatchObject({ status: 'done' })
    expect(await browser.call('verify', {})).toMatchObject({ ok: true })
  })

  it('shows an altered copy in safe mode, with its cause', async () => {
    const { browser } = await opened('--dir', 'altered')
    const cause = { code: 'ledger.corrupt' }
    expect(await browser.call('status')).toMatchObject({ mode: 'safe', cause })
    expect(await browser.call('verify', {})).toMatchObject({ ok: false })
  })

  it('says what it cannot do, before it opens anything', async () => {
    const wrong: readonly (readonly [readonly string[], number, string])[] = [
      [['--payloads'], 2, 'cli.usage'],
      [['--stately', '--read-only'], 2, 'cli.usage'],
      [['--port', '70000'], 2, 'cli.usage'],
      [['--dir', 'nowhere'], 2, 'ledger.not_found'],
      [['--dir', 'greet.yaml'], 3, 'snapshot.malformed']
    ]
    for (const [words, code, error] of wrong) {
      const ended = await project.tally(['inspect', ...words, '--json'])
      expect([ended.code, documentOf(ended, 'error')['code']], words.join(' ')).toEqual([
        code,
        error
      ])
    }
  })

  it('opens no browser where there is no terminal', async () => {
    const { command } = await opened('--open')
    await command.says('no browser was opened: this is no terminal')
  })
})
