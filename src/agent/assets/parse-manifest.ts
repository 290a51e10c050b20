import { z } from 'zod-pinned'
import {
  atOnce,
  checkingSchema,
  isSliceFull,
  type Json,
  type Pieces,
  passSteps,
  sha256Hex
} from '../../core/index.js'
import { type PromptAssetManifest, promptAssetsSchema } from './manifest.js'

const text = {
  sourcePath: z.string().max(1_000),
  content: z.string(),
  hash: z.string().regex(/^[0-9a-f]{64}$/)
}
const named = z.record(z.string(), z.strictObject(text))

const agent = z.strictObject({
  ...text,
  agentId: z.string().min(1).max(128),
  name: z.string(),
  description: z.string(),
  adapterKind: z.string().min(1),
  outputKind: z.enum(['text', 'plan', 'score']).optional(),
  model: z.string().optional(),
  temperature: z.number().optional(),
  turnMode: z.enum(['normal', 'plan', 'evaluate', 'summarize']),
  tools: z.array(z.string()),
  includes: z.strictObject({
    instructions: z.array(z.string()),
    skills: z.array(z.string()),
    globalSystemPrompt: z.boolean()
  })
})

const manifestSchema = z.strictObject({
  schema: z.literal(promptAssetsSchema),
  globalSystemPrompt: z.strictObject(text).optional(),
  agents: z.record(z.string(), agent),
  instructions: named,
  skills: named,
  errors: z.array(
    z.strictObject({
      code: z.enum([
        'duplicate_agent_id',
        'duplicate_instruction_name',
        'missing_include',
        'invalid_frontmatter',
        'file_read_error'
      ]),
      message: z.string(),
      sourcePath: z.string().optional(),
      agentId: z.string().optional()
    })
  )
})

export type ParsedManifest =
  | { readonly ok: true; readonly manifest: PromptAssetManifest }
  | { readonly ok: false; readonly problem: string }

/** {@link parsingManifest} at once. */
export function parseManifest(value: Json): ParsedManifest {
  return atOnce(parsingManifest(value))
}

/** Work of hashing a text. */
const STEPS_OF_TEXT = 16
const CHARS_OF_STEP = 64

/** Reads the manifest that came with a document: each text must have the hash that stands by it. */
export function* parsingManifest(value: Json): Pieces<ParsedManifest> {
  const parsed = yield* checkingSchema(manifestSchema, value)
  if (!parsed.success) {
    const [issue] = parsed.issues
    const path = issue?.path.map(String).join('.') ?? ''
    return { ok: false, problem: `${path}: ${issue?.message ?? 'invalid'}` }
  }
  const { agents, instructions, skills, globalSystemPrompt } = parsed.data
  const texts = [agents, instructions, skills].flatMap((group) => Object.values(group))
  const all = globalSystemPrompt === undefined ? texts : [...texts, globalSystemPrompt]
  for (const { content, hash, sourcePath } of all) {
    passSteps(STEPS_OF_TEXT + content.length / CHARS_OF_STEP)
    if (isSliceFull()) yield
    if (sha256Hex(content) !== hash) {
      return { ok: false, problem: `${sourcePath} does not have the hash that it names` }
    }
  }
  // The schema has checked the form of the hashes, which is all that their type adds.
  return { ok: true, manifest: parsed.data as unknown as PromptAssetManifest }
}
