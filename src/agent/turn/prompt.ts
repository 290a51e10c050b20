import { canonicalize, type Hash, type Json, type JsonObject, sha256Hex } from '../../core/index.js'
import { inlineSegment, type PromptSegment } from '../assets/segments.js'

/** A prompt and what it was made of; the same segments and input give the same text. */
export interface AssembledPrompt {
  /** Global, instructions, skills, agent: opens the session. */
  readonly systemPrompt: string
  /** Node and run: asks the turn. */
  readonly prompt: string
  readonly provenance: readonly SegmentOrigin[]
}

/** Where a piece of the prompt came from, for the result: its text is not repeated there. */
export interface SegmentOrigin {
  readonly scope: string
  readonly label: string
  readonly sourcePath: string | null
  readonly hash: Hash
}

type Segment = Omit<PromptSegment, 'scope'> & { readonly scope: string }

/** Inputs that are part of a prompt, in this order; the rest is for adapters with own tools. */
const promptInputs = ['userPrompt', 'prompt', 'data', 'previousResult'] as const

/** Joins segments by a blank line; of equal ones only the first is kept (AgentsFlow spec 003). */
export function assemblePrompt(options: {
  readonly standing: readonly PromptSegment[]
  readonly node: readonly PromptSegment[]
  readonly input: JsonObject
}): AssembledPrompt {
  const seen = new Set<string>()
  const first = (segments: readonly Segment[]) =>
    segments.filter(({ content }) => {
      if (content.trim() === '' || seen.has(content)) return false
      seen.add(content)
      return true
    })
  const standing = first(options.standing)
  const asked = first([...options.node, ...inputSegments(options.input)])
  return {
    systemPrompt: textOf(standing),
    prompt: textOf(asked),
    provenance: [...standing, ...asked].map(({ scope, label, sourcePath, hash }) => ({
      scope,
      label,
      sourcePath,
      hash
    }))
  }
}

function inputSegments(input: JsonObject): readonly Segment[] {
  return promptInputs.flatMap((name): readonly Segment[] => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    if (!isGiven(value)) return []
    const content = typeof value === 'string' ? value : canonicalize(value)
    return [{ scope: 'input', label: name, sourcePath: null, content, hash: sha256Hex(content) }]
  })
}

function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== ''
}

function textOf(segments: readonly Segment[]): string {
  return segments.map(({ content }) => content).join('\n\n')
}

/** Segments of a node's own configuration. */
export function nodeSegments(
  nodeId: string,
  config: { readonly systemPrompt?: string | undefined; readonly userPrompt?: string | undefined }
): readonly PromptSegment[] {
  return [config.systemPrompt, config.userPrompt].flatMap((text) =>
    text === undefined || text === '' ? [] : [inlineSegment('node', nodeId, text)]
  )
}
