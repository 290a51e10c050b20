import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BlockContext, defineBlock, defineWorkflow } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import { createRuntime, type RuntimeOptions, type WiredRuntime } from '../../src/runtime/index.js'
import { documentOf, LARGE_LENGTH } from './snapshots.js'

/** A value that nobody else writes, in everything that a run may keep of what it is given. */
export const planted = 'planted-Vx7Qm2Lz'

interface Given {
  readonly text: string
}

const block = (name: string, run: (ctx: BlockContext, given: Given) => Json | Promise<Json>) =>
  defineBlock({ name, version: '1', sideEffects: 'none', intents: [`${name}.it`], run })

/** Blocks that put what they are given wherever a run keeps something. */
export const subjectBlocks = [
  defineBlock({
    name: 'send',
    version: '1',
    sideEffects: 'idempotent',
    intents: ['send.it'],
    run: async (ctx, { text }: Given) => {
      const answer = await ctx.effect('mail', { request: { text } })
      ctx.state.set('last', text.length)
      return { answer, text }
    }
  }),
  block('large', (_ctx, { text }) => ({ text: text.repeat(LARGE_LENGTH / text.length) })),
  block('fails', (ctx, { text }) => ctx.fail('no_luck', { text })),
  block('throws', (_ctx, { text }) => {
    throw new Error(`thrown ${text}`)
  }),
  block('asks', async (ctx, { text }) => {
    await ctx.setTags([text])
    const { value } = await ctx.wait({ reason: 'external', request: { text } })
    return value ?? null
  }),
  block('keeps', (ctx, { text }) => {
    ctx.state.set('kept', { text })
    return { text }
  }),
  block('removes', (ctx) => {
    ctx.state.delete('kept')
    return null
  }),
  block('reads', (ctx) => ({ is: ctx.state.get('kept') !== undefined })),
  block('reads_fails', (ctx) => ctx.fail('seen', { is: ctx.state.get('kept') !== undefined })),
  block('changes', (ctx) => {
    ctx.state.set('kept', { was: ctx.state.get('kept') ?? null })
    return null
  }),
  block('other', () => ({ other: true }))
]

/** A workflow in code that a schedule can begin. */
export const subjectJob = defineWorkflow({
  name: 'job',
  version: '1',
  run: async (ctx, { text }: Given) => ({ said: await ctx.step('say', () => text) })
})

export function openSubjects(
  location: string,
  options: Partial<RuntimeOptions> = {}
): Promise<WiredRuntime> {
  return createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    serve: false,
    blocks: subjectBlocks,
    workflows: [subjectJob],
    providers: [
      { name: 'mail', perform: ({ request }) => ({ sent: (request as unknown as Given).text }) }
    ],
    ...options
  })
}

/** Runs of a subject, one of each block that ends by itself, and one that waits. */
export async function fillSubject(
  tally: WiredRuntime,
  subject: string,
  text = planted
): Promise<void> {
  for (const name of ['send', 'large', 'fails', 'throws']) {
    const id = `${subject}-${name}`
    await tally.begin(documentOf(name), { id, inputs: { text }, subject, tags: [text] }).result
    await tally.begin(documentOf('other'), { inputs: {} }).result
  }
  const waiting = tally.begin(documentOf('asks'), {
    ...{ id: `${subject}-asks`, inputs: { text }, subject },
    context: { text }
  })
  for await (const event of waiting) if (event.type === 'run.parked') break
}

/** Files below a directory that hold one of these texts: as it is, in hex or in base64. */
export async function filesWith(directory: string, text: string): Promise<readonly string[]> {
  const forms = formsOf(text)
  const found: string[] = []
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path)
    if (forms.some((form) => bytes.includes(form))) found.push(path.slice(directory.length + 1))
  }
  return found
}

/** Base64 of a text depends on what stands before it: three forms. */
function formsOf(text: string): readonly string[] {
  const base64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.from('x'.repeat(before) + text).toString('base64')
    return encoded.slice(before === 0 ? 0 : 4, Math.floor((before + text.length) / 3) * 4)
  })
  return [text, Buffer.from(text).toString('hex'), ...base64]
}
