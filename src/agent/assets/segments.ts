import { type Hash, sha256Hex } from '../../core/index.js'
import type { AgentAsset, PromptAssetManifest, PromptText } from './manifest.js'

/** A piece of a prompt, and where it comes from. */
export interface PromptSegment {
  readonly scope: 'global' | 'instruction' | 'skill' | 'agent' | 'node'
  readonly label: string
  readonly sourcePath: string | null
  readonly content: string
  readonly hash: Hash
}

/** The standing part of an agent's prompt, in order: global, instructions, skills, agent. */
export function assetSegments(
  agent: AgentAsset,
  manifest: PromptAssetManifest
): readonly PromptSegment[] {
  const { instructions, skills, globalSystemPrompt } = agent.includes
  const global = globalSystemPrompt ? manifest.globalSystemPrompt : undefined
  return [
    ...(global === undefined ? [] : [segmentOf('global', 'global', global)]),
    ...named('instruction', instructions, manifest.instructions),
    ...named('skill', skills, manifest.skills),
    segmentOf('agent', agent.agentId, agent)
  ]
}

/** A segment that stands in the flow document itself. */
export function inlineSegment(
  scope: PromptSegment['scope'],
  label: string,
  content: string
): PromptSegment {
  return { scope, label, sourcePath: null, content, hash: sha256Hex(content) }
}

function named(
  scope: 'instruction' | 'skill',
  names: readonly string[],
  texts: Readonly<Record<string, PromptText>>
): readonly PromptSegment[] {
  return names.flatMap((name) => {
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined
    return text === undefined ? [] : [segmentOf(scope, name, text)]
  })
}

function segmentOf(scope: PromptSegment['scope'], label: string, text: PromptText): PromptSegment {
  const { sourcePath, content, hash } = text
  return { scope, label, sourcePath, content, hash }
}
