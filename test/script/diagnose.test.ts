import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from '../support/project.js'

/** `tally diagnose` says of each run that failed what failed, where, and why. */
const config = `
import { defineBlock, defineConfig, defineWorkflow } from 'tallystick'
const block = (name, run, more = {}) =>
  defineBlock({ name, version: '1.0.0', sideEffects: 'none', run, ...more })
const text = (value) =>
  typeof value.to === 'string' ? { value } : { issues: [{ message: 'no text', path: ['to'] }] }
const input = { '~standard': { version: 1, vendor: 'own', validate: text } }
const fails = { request: {}, perform: () => { throw new Error('the bank is closed') } }
export default defineConfig({
  blocks: [
    block('fine', () => 1),
    block('throws', () => { throw new Error('card 42 was refused') }),
    block('bigint', () => 3n),
    block('asks', (_, { to }) => to, { input }),
    block('effect', (ctx) => ctx.effect('bank.ask', fails)),
    block('slow', async (ctx) => ctx.sleep(60_000)),
    block('human', (ctx) => ctx.wait({ reason: 'external', request: {} })),
    block('book', (ctx) => ctx.effect('hotel.book', () => 'h-1'), {
      sideEffects: 'non_idempotent',
      compensate: ({ response }) =>
        ({ effect: 'hotel.cancel', request: response, sideEffects: 'idempotent' })
    }),
    block('write', (ctx) => ctx.effect('bank.pay', { ...fails, sideEffects: 'idempotent' }),
      { sideEffects: 'idempotent', compensate: 'bank.refund' })
  ],
  providers: ['hotel.cancel', 'bank.refund'].map((name) => ({ name, perform: () => null })),
  workflows: [
    defineWorkflow({ name: 'coded', version: '1.0.0', run: async (ctx) => {
      const first = () => { throw new TypeError('x is no function') }
      await ctx.step('first', first, null, { sideEffects: 'none' })
    } }),
    defineWorkflow({ name: 'own', version: '1.0.0', run: async () => {
      throw new Error('no step was at fault')
    } })
  ]
})
`
const schema = 'tally-composite/1'
const one = (block: string, more: object = {}) => ({
  ...{ schema, name: block, version: '1.0.0', entry_point: 'a' },
  nodes: { a: { block, ...more } }
})

/** A document, or the name of a workflow in code, and what is to be said of its failure. */
const failures: Readonly<Record<string, readonly [what: object | string, said: RegExp]>> = {
  'code that throws': [one('throws'), /root\/a failed block_threw.*card 42 was refused/s],
  'an output that is no value': [one('bigint'), /root\/a failed invalid_output.*bigint/s],
  'an input that does not fit': [one('asks', { input: { lit: {} } }), /root\/a failed.*\bto\b/s],
  'an effect that fails': [one('effect'), /root\/a failed.*the bank is closed/s],
  'too many steps': [
    { ...one('fine'), max_steps: 2, transitions: { a: 'a' } },
    /max_steps_exceeded/
  ],
  'a value that is not there': [
    one('fine', { input: { ref: 'request.payload.missing' } }),
    /missing_reference.*"node":"a".*input_execution_error/s
  ],
  'time that is over': [one('slow', { timeout_ms: 20 }), /timed_out/],
  'a step of code that throws': ['coded', /first.*x is no function/s],
  'code of a workflow that throws': ['own', /no step was at fault/]
}

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await project.write('tally.config.ts', config)
  await project.tally(['init', '--insecure-plaintext-key'])
})
afterAll(() => project.remove())

describe('a run that failed is explained by tally diagnose', () => {
  it.each(Object.entries(failures))('where the cause is %s', async (cause, [what, said]) => {
    const id = cause.replaceAll(' ', '-')
    if (typeof what !== 'string') await project.write(`${id}.json`, JSON.stringify(what))
    const given = typeof what === 'string' ? ['--workflow', what] : [`${id}.json`]
    const ran = await project.tally(['run', ...given, '--id', id])
    const { stdout, stderr } = await project.tally(['diagnose', id])
    expect(stdout, ran.stdout + ran.stderr + stderr).toMatch(/^.*\bfailed\b/)
    expect(stdout).toMatch(said)
    expect(stdout).not.toContain('nothing stands in its way')
  })

  it('C4, L7: a write that a rollback undid does not stay done, and one in doubt has not failed', async () => {
    const document = {
      ...{ schema, name: 'trip', version: '1.0.0', atomic: true, entry_point: 'book' },
      nodes: { book: { block: 'book' }, write: { block: 'write' } },
      transitions: { book: 'write' }
    }
    await project.write('trip.json', JSON.stringify(document))
    await project.tally(['run', 'trip.json', '--id', 'trip'])
    const { stdout } = await project.tally(['diagnose', 'trip'])
    expect(stdout).toContain('sent hotel.book by root/book: was done, and was undone')
    expect(stdout).toMatch(/sent hotel.cancel by root\/book~undo\S+ was done, and undoes another/)
    expect(stdout).toContain('sent bank.pay by root/write: was sent; whether it took effect')
    expect(stdout).not.toContain('stays')
  })

  it('what a run that was cancelled has sent is told, and what stays of it', async () => {
    const nodes = { book: { block: 'book' }, human: { block: 'human' } }
    const left = { ...one('book'), name: 'left', entry_point: 'book', nodes }
    await project.write('left.json', JSON.stringify({ ...left, transitions: { book: 'human' } }))
    await project.tally(['run', 'left.json', '--id', 'left'])
    await project.tally(['cancel', 'left'])
    const { stdout } = await project.tally(['diagnose', 'left'])
    expect(stdout).toContain('sent hotel.book by root/book: was done, and stays done')
    expect(stdout).toContain('what was done outside stays')
    expect(stdout).not.toContain('correct the cause')
  })
})
