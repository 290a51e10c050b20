import { z } from 'zod-pinned'
import { isTallyError, type Json, readDocument } from '../../core/index.js'

/** A file split into its YAML head and its text. */
export type Split =
  | { readonly ok: true; readonly head: Json; readonly body: string }
  | { readonly ok: false; readonly problem: string }

const fence = /^---\n(?:([\s\S]*?)\n)?---(?:\n|$)/

/** Text with LF at the ends of lines and no byte-order mark: the same on every machine. */
export function normalisedText(text: string): string {
  return text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
}

/** Splits a file that begins with `---`; one that does not has an empty head. */
export function splitFrontmatter(source: string): Split {
  const text = normalisedText(source)
  const match = fence.exec(text)
  if (match === null) {
    if (text.startsWith('---\n')) return { ok: false, problem: 'its frontmatter does not end' }
    return { ok: true, head: {}, body: text.trim() }
  }
  const body = text.slice(match[0].length).trim()
  const yaml = match[1] ?? ''
  if (yaml.trim() === '') return { ok: true, head: {}, body }
  try {
    return { ok: true, head: readDocument(yaml), body }
  } catch (error) {
    if (!isTallyError(error)) throw error
    return { ok: false, problem: error.message }
  }
}

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,127}$/)
const text = z.string().max(10_000)

export const agentHeadSchema = z.object({
  name,
  description: text.default(''),
  agentId: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/),
  'output.kind': z.enum(['text', 'plan', 'score']).optional(),
  adapterKind: name.default('pi-mono'),
  model: z.string().max(256).optional(),
  temperature: z.number().min(0).max(2).optional(),
  turnMode: z.enum(['normal', 'plan', 'evaluate', 'summarize']).default('normal'),
  tools: z.array(name).default([]),
  userInvocable: z.boolean().default(false),
  argumentHint: text.optional(),
  includes: z
    .strictObject({
      instructions: z.array(name).default([]),
      skills: z.array(name).default([]),
      globalSystemPrompt: z.boolean().default(true)
    })
    .prefault({})
})

export const instructionHeadSchema = z.object({ name, description: text.default('') })

/** The first problem of a head, as `key: what`. */
export function headProblem(issues: readonly z.core.$ZodIssue[]): string {
  const issue = issues[0]
  if (issue === undefined) return 'it is not valid'
  return `${issue.path.map(String).join('.')}: ${issue.message}`
}
