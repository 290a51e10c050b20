import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/index.js'
import type { Received } from '../support/console/browser.js'
import { openedConsole } from '../support/console/opened.js'
import { Project, type Started } from '../support/project.js'

/** The feed of a console while the process that holds the ledger is killed and another comes. */

let project: Project
const started: Started[] = []
beforeAll(async () => {
  project = await Project.withRun()
})
afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.kill('SIGINT')
    await ended
  }
})
afterAll(() => project.remove())

describe('the feed of a console', () => {
  it('Q4: gives each entry once over the death of a holder, and what was done meanwhile', async () => {
    const { browser, command } = await openedConsole(project)
    started.push(command)
    const feed = browser.feed()
    const places: string[] = []
    const entries: string[] = []
    const held: unknown[] = []
    const until = async (isThere: (event: Received) => boolean) => {
      for (;;) {
        const { value, done } = await feed.next()
        if (done === true) throw new Error('the feed ended')
        if (value === 'comment') continue
        if (value.type === 'failed') throw new Error(JSON.stringify(value.data))
        if (value.id !== undefined) places.push(value.id)
        const { type, runId, entry, isHeld } = value.data as JsonObject
        if (type === 'mode') held.push(isHeld)
        if (type === 'entry') entries.push(`${runId}: ${JSON.stringify(entry)}`)
        if (isThere(value)) return
      }
    }
    const has = (runId: string, kind: string) => (event: Received) => {
      const { type, runId: of, entry } = event.data as JsonObject
      return type === 'entry' && of === runId && (entry as JsonObject)['k'] === kind
    }
    await until(({ type }) => type === 'mode')
    const holder = project.start(['run', 'ask.yaml', '--id', 'asked', '--wait', '--json'])
    started.push(holder)
    await until(has('asked', 'run.started'))
    await holder.says('run.parked')
    holder.child.kill('SIGKILL')
    await holder.ended
    const next = project.start(['resume', 'asked', '--wait', '--json'])
    started.push(next)
    await next.says('run.parked')
    expect((await project.tally(['resume', 'asked', '--value', '42'])).code).toBe(0)
    await until(has('asked', 'run.finished'))
    // A command that is over before the next look.
    expect((await project.tally(['run', 'greet.yaml', '--id', 'short'])).code).toBe(0)
    await until(has('short', 'run.finished'))
    await feed.return(undefined)

    // It says whether a process holds the ledger whenever that is another one.
    expect(held[0]).toBe(false)
    expect(held).toContain(true)
    expect(held.at(-1)).toBe(false)
    expect(new Set(places).size).toBe(places.length)
    const journal: string[] = []
    for (const id of ['asked', 'short']) {
      const asked = { method: 'POST', path: '/api/journal', body: JSON.stringify({ id }) }
      for await (const event of browser.events(asked)) {
        if (event === 'comment' || event.type !== 'message') continue
        journal.push(`${id}: ${JSON.stringify((event.data as JsonObject)['entry'])}`)
      }
    }
    const isOf = (one: string) => /^(asked|short): /.test(one)
    expect(entries.filter(isOf).sort()).toEqual(journal.sort())
  })
})
