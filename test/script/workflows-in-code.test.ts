import { afterAll, beforeAll, expect, it } from 'vitest'
import { Project } from '../support/project.js'

/** Workflows in code as they are typed: run by their name, diagnosed, upgraded. */

const config = `
import { defineConfig, defineWorkflow, EffectFailure } from 'tallystick'
const flow = (name, run) => defineWorkflow({ name, version: '1.0.0', run })
export default defineConfig({
  workflows: [
    flow('lost', (ctx) => ctx.step('pay', () => { throw new Error('connection reset') })),
    flow('unsure', (ctx) => ctx.step('pay', () => { throw new EffectFailure('no_answer') })),
    flow('waits', async (ctx) => {
      await ctx.step('before', () => 1)
      return ctx.signal('go')
    })
  ]
})
`

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await project.write('tally.config.ts', config)
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
})
afterAll(() => project.remove())

it.each([
  ['lost', 'Error: connection reset'],
  ['unsure', 'unknown_outcome']
])('diagnose says what a step about which a person decides has done: %s', async (name, thrown) => {
  const started = await project.tally(['run', '--workflow', name, '--id', name])
  expect(started.code).toBe(4)
  const { stdout } = await project.tally(['diagnose', name])
  expect(stdout).toContain(`sent ${name}.pay by root/pay: was sent; whether it took effect`)
  expect(stdout).toContain(thrown)
  expect(stdout).toContain(`tally abort ${name} pay`)
})

it('B10: upgrade check says which step of an open run the code does not ask for', async () => {
  expect((await project.tally(['run', '--workflow', 'waits', '--id', 'waits'])).code).toBe(4)
  expect((await project.tally(['upgrade', 'check'])).stdout).not.toContain('something else')
  await project.write('changed.config.ts', config.replace("'before'", "'after'"))
  const { stdout, code } = await project.tally(['upgrade', 'check', 'changed.config.ts'])
  expect(stdout).toContain('its code asks for something else: called.1')
  expect(code).not.toBe(0)
})

it('K10, L7: cancel of a run whose code is not here says what is in doubt, to people and programs', async () => {
  await project.write('empty.config.ts', 'export default {}')
  for (const form of [[], ['--json']]) {
    const id = `unsure${form.length}`
    await project.tally(['run', '--workflow', 'unsure', '--id', id])
    const words = ['cancel', id, '--config', 'empty.config.ts', ...form]
    const { code, stdout, documents } = await project.tally(words)
    expect(code).toBe(0)
    const doubt = { effect: 'unsure.pay', path: 'root/pay', state: 'unknown' }
    if (form.length > 0) expect(documents).toMatchObject([{ $type: 'run', inDoubt: [doubt] }])
    else {
      expect(stdout).toContain('ended without its code')
      expect(stdout).toContain('in doubt unsure.pay of root/pay')
    }
  }
})

it('cancel of a run that its code ends lists no doubts', async () => {
  await project.tally(['run', '--workflow', 'waits', '--id', 'ended'])
  const { documents } = await project.tally(['cancel', 'ended', '--json'])
  expect(documents).toMatchObject([{ $type: 'run', status: 'cancelled' }])
  expect(documents[0]).not.toHaveProperty('inDoubt')
})
