import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/index.js'
import type { Browser } from '../support/console/browser.js'
import { openedConsole } from '../support/console/opened.js'
import { documentOf, Project, type Started } from '../support/project.js'

/** `tally dev`: a ledger that is held with code that changes, and a console that stays. */

const WAIT_MS = 60_000

let project: Project
const started: Started[] = []
beforeAll(async () => {
  project = await Project.create()
  await project.write('greeting.ts', greetingOf('hello'))
  await project.write('tally.config.ts', config)
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
})
afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.kill('SIGINT')
    await ended
  }
})
afterAll(() => project.remove())

const greetingOf = (word: string) => `export const greeting: string = '${word}'\n`

const config = `
import { defineBlock, defineConfig } from 'tallystick'
import { greeting } from './greeting.ts'

const name = 'greet'
const greet = defineBlock({ name, version: '1', sideEffects: 'none', run: () => ({ greeting }) })
const ask = defineBlock({
  name: 'ask',
  version: '1',
  sideEffects: 'none',
  run: async (ctx) => ({
    answer: (await ctx.wait({ reason: 'external', request: {} })).value
  })
})

export default defineConfig({ blocks: [greet, ask] })
`

const documentNaming = (block: string) =>
  JSON.stringify({
    schema: 'tally-composite/1',
    name: block,
    version: '1',
    entry_point: 'first',
    nodes: { first: { block } }
  })

async function run(browser: Browser, id: string, block: string): Promise<readonly string[]> {
  const body = JSON.stringify({ id, document: documentNaming(block) })
  const types: string[] = []
  for await (const event of browser.events({ method: 'POST', path: '/api/run', body })) {
    if (event !== 'comment' && event.type === 'message') {
      types.push(String((event.data as JsonObject)['type']))
    }
  }
  return types
}

const member = (value: Json, ...path: readonly (string | number)[]): Json =>
  path.reduce<Json>((inner, name) => (inner as never)[name], value)

/** Resolves once a process holds the ledger that is none of these. */
async function nextHolder(browser: Browser, ...before: readonly Json[]): Promise<Json> {
  const holder = async () => {
    const { process, readOnly } = (await browser.call('status')) as JsonObject
    return readOnly === false && !before.includes(process ?? null) ? (process ?? null) : null
  }
  await expect.poll(holder, { timeout: WAIT_MS }).not.toBeNull()
  return holder()
}

describe('tally dev', () => {
  it('runs documents, loads changed modules, and lets runs continue', async () => {
    const { browser, command } = await openedConsole(project, ['dev'])
    started.push(command)
    const first = await nextHolder(browser)
    expect(await run(browser, 'before', 'greet')).toContain('run.finished')
    expect(await run(browser, 'asked', 'ask')).toContain('run.parked')

    await project.write('greeting.ts', greetingOf('good evening'))
    const second = await nextHolder(browser, first)
    expect(await run(browser, 'after', 'greet')).toContain('run.finished')
    const greetings = ['before', 'after'].map(async (id) =>
      member(await browser.call('show', { id }), 'response', 'data', 'greeting')
    )
    expect(await Promise.all(greetings)).toEqual(['hello', 'good evening'])

    // A module that does not load leaves the ledger to be read, until it loads again.
    await project.write('greeting.ts', 'export const greeting: string = ')
    await command.says('the ledger is not held until a file changes: cli.invalid_config')
    expect(await browser.call('show', { id: 'asked' })).toMatchObject({ status: 'waiting' })
    await project.write('greeting.ts', greetingOf('good night'))
    await nextHolder(browser, first, second)

    const wait = member(await browser.call('show', { id: 'asked' }), 'waits', 0) as JsonObject
    const answer = { id: 'asked', token: wait['token'], digest: wait['digest'], value: 42 }
    expect(await browser.call('message', { ...answer, action: 'resume' })).toMatchObject({
      accepted: true
    })
    const status = async () => member(await browser.call('show', { id: 'asked' }), 'status')
    await expect.poll(status, { timeout: WAIT_MS }).toBe('done')

    command.child.kill('SIGTERM')
    expect((await command.ended).code).toBe(143)
    expect((await project.tally(['verify'])).code).toBe(0)
  })

  it('gives strangers nothing, and ends the process that holds the ledger when it is killed', async () => {
    const { browser, command } = await openedConsole(project, ['dev'])
    started.push(command)
    await nextHolder(browser)
    const stranger = { origin: 'http://attacker.example', 'sec-fetch-site': 'cross-site' }
    for (const headers of [stranger, { host: 'attacker.example' }, { 'x-tally': undefined }]) {
      expect((await browser.post('/api/status', '{}', headers)).status).toBe(403)
    }
    expect((await browser.post('/api/status', '{}', { cookie: 'tally_1=guessed' })).status).toBe(
      401
    )
    command.child.kill('SIGKILL')
    await command.ended
    const after = async () => (await project.tally(['run', 'greet.yaml', '--json'])).code
    await expect.poll(after, { timeout: WAIT_MS }).toBe(0)
  })

  it('leaves a ledger alone that a process holds, or that is not there', async () => {
    const { browser, command } = await openedConsole(project, ['dev'])
    started.push(command)
    await nextHolder(browser)
    const second = await project.tally(['dev', '--json'])
    expect(documentOf(second, 'error')).toMatchObject({ code: 'ledger.locked' })
    const missing = await project.tally(['dev', '--dir', 'nowhere', '--json'])
    expect(documentOf(missing, 'error')).toMatchObject({ code: 'ledger.not_found' })
  })
})
