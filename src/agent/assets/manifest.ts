import type { Hash } from '../../core/index.js'
import type { TurnMode } from '../adapters/adapter.js'
import type { OutputKind } from '../flow/schema.js'

/** Schema name of a manifest inside a flow document (`extensions.promptAssets`). */
export const promptAssetsSchema = 'agents-flow-assets/1'

/** A directory `.agents-flow/` as plain JSON: what a flow needs of it travels in the document. */
export interface PromptAssetManifest {
  readonly schema: typeof promptAssetsSchema
  readonly globalSystemPrompt?: PromptText
  /** By agent id. */
  readonly agents: Readonly<Record<string, AgentAsset>>
  /** By name. */
  readonly instructions: Readonly<Record<string, PromptText>>
  /** By folder. */
  readonly skills: Readonly<Record<string, PromptText>>
  readonly errors: readonly AssetError[]
}

/** A piece of a prompt, with the file that it comes from. */
export interface PromptText {
  /** In the directory, with `/` between names. */
  readonly sourcePath: string
  /** Without frontmatter; lines end in LF. */
  readonly content: string
  /** SHA-256 of `content`. */
  readonly hash: Hash
}

/** An agent as its file in the assets directory says: prompt, adapter and settings. */
export interface AgentAsset extends PromptText {
  readonly agentId: string
  readonly name: string
  readonly description: string
  readonly adapterKind: string
  readonly outputKind?: OutputKind
  readonly model?: string
  readonly temperature?: number
  readonly turnMode: TurnMode
  readonly tools: readonly string[]
  readonly includes: {
    readonly instructions: readonly string[]
    readonly skills: readonly string[]
    readonly globalSystemPrompt: boolean
  }
}

/** Why a file of the assets directory was left out. */
export interface AssetError {
  readonly code:
    | 'duplicate_agent_id'
    | 'duplicate_instruction_name'
    | 'missing_include'
    | 'invalid_frontmatter'
    | 'file_read_error'
  readonly message: string
  readonly sourcePath?: string
  /** The only agent that this keeps from running; absent: every agent that needs the file. */
  readonly agentId?: string
}

/** What keeps an agent from running. */
export function errorsOf(manifest: PromptAssetManifest, agentId: string): readonly AssetError[] {
  const asset = Object.hasOwn(manifest.agents, agentId) ? manifest.agents[agentId] : undefined
  return manifest.errors.filter(
    (error) =>
      error.agentId === agentId || (asset !== undefined && error.sourcePath === asset.sourcePath)
  )
}
