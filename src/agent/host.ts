import type { DocumentDefinition, Provider } from '../block/index.js'
import type { Block } from '../code/index.js'
import {
  atOnce,
  type Clock,
  type Environment,
  type Json,
  Redactor,
  systemClock
} from '../core/index.js'
import type { NetworkOptions } from '../intent/index.js'
import type { AdapterRegistry } from './adapters/adapter-registry.js'
import { type AgentDelta, AgentTurns } from './adapters/agent-turns.js'
import { builtInAdapters } from './adapters/built-in.js'
import { RunWork } from './adapters/run-work.js'
import type { ResponseSecrets } from './adapters/withhold.js'
import type { DocumentBounds } from './binding/bounds.js'
import { outOfBounds } from './binding/node-bounds.js'
import { type BindingReport, bindingReport } from './binding/report.js'
import { type CompiledFlow, compilingFlow } from './compile/compile-flow.js'
import type { FlowHost } from './compile/flow-host.js'
import type { FlowFinding } from './flow/finding.js'
import {
  type FlowKind,
  finishBlock,
  inputBlock,
  loaderBlock,
  planLoopBlock
} from './position/blocks.js'
import { fileLoader } from './position/load-files.js'
import { type AgentTool, toolProvider } from './turn/tool.js'
import { turnBlocks } from './turn/turn-block.js'

/** What a program brings for flow documents; all of it optional. */
export interface AgentHost {
  /** Default: {@link builtInAdapters}. */
  readonly adapters?: AdapterRegistry
  /** Made with `defineTool`. */
  readonly tools?: readonly AgentTool[]
  /** Made with `defineFlowKind`. */
  readonly kinds?: readonly FlowKind[]
  /** Where settings and secrets are looked for (A3). Default: the environment of the process. */
  readonly environment?: Environment
  /**
   * Secrets that documents may name, and send to servers that they name: `env:NAME`, `file:PATH`.
   * Default: none but the keys that adapters take from the environment, and no server beside them.
   */
  readonly documentSecrets?: readonly string[]
  /** What documents may choose: approvals, adapters, servers, tools, loaders. Default: anything. */
  readonly bounds?: DocumentBounds
  /**
   * The only directory that loaders read; null: they read nothing. Default: the working directory
   * for runs that the owner started, and none for those of agents and peers.
   */
  readonly loaderRoot?: string | null
  /** Parts of responses that are not to be sealed. */
  readonly secrets?: ResponseSecrets
  /** Hears text as it arrives; what it hears is no history (A5). */
  readonly onDelta?: (delta: AgentDelta) => void
}

/** What a runtime gives the room beside the host's own. */
export interface AgentSurroundings {
  /** Bounds the servers that documents name, as it does for packages (K15). */
  readonly network?: NetworkOptions
  /** Learns the secrets that are read. */
  readonly redactor?: Redactor
  /** Measures how long turns and tools work (A7). */
  readonly clock?: Clock
}

/**
 * The agent room's share in a runtime.
 *
 * Owns: the sessions of agents, through {@link AgentTurns}. Does not own: runs.
 */
export class AgentParts {
  readonly blocks: readonly Block[]
  readonly providers: readonly Provider[]
  readonly turns: AgentTurns
  readonly #host: AgentHost
  readonly #adapters: AdapterRegistry
  readonly #listeners = new Set<(delta: AgentDelta) => void>()
  readonly #closed: string[] = []

  constructor(host: AgentHost = {}, surroundings: AgentSurroundings = {}) {
    const { network = {}, redactor = new Redactor(), clock = systemClock } = surroundings
    const work = new RunWork(clock)
    const { environment = process.env, documentSecrets = [], secrets, onDelta } = host
    const { tools = [], kinds = [] } = host
    this.#host = host
    this.#adapters = host.adapters ?? builtInAdapters()
    if (onDelta !== undefined) this.#listeners.add(onDelta)
    this.turns = new AgentTurns({
      adapters: this.#adapters,
      environment,
      documentSecrets,
      network,
      redactor,
      work,
      onDelta: (delta) => {
        for (const listener of this.#listeners) listener(delta)
      },
      ...(secrets === undefined ? {} : { secrets })
    })
    this.blocks = [
      ...turnBlocks,
      loaderBlock,
      inputBlock,
      planLoopBlock,
      finishBlock,
      ...kinds.map(({ block }) => block)
    ]
    const loader = fileLoader({ root: host.loaderRoot, closed: () => this.#closed })
    this.providers = [this.turns, loader, ...tools.map((tool) => toolProvider(tool, work))]
  }

  /** A flow document, compiled with what this host has. */
  compile(document: Json): CompiledFlow {
    return atOnce(this.compiling(document))
  }

  /** {@link compile} in pieces: other work may be done wherever it yields. */
  compiling(document: Json): Generator<undefined, CompiledFlow, undefined> {
    return compilingFlow(document, { ...this.#flowHost(), checksSettings: true })
  }

  /** What any definition chooses and this host does not allow. */
  outOfBounds(definition: DocumentDefinition): readonly FlowFinding[] {
    return outOfBounds(definition, this.#flowHost())
  }

  /** The same of a definition that another than the owner has written (K14). */
  outOfBoundsOfOthers(definition: DocumentDefinition): readonly FlowFinding[] {
    return outOfBounds(definition, { ...this.#flowHost(), isForeign: true })
  }

  /** What a flow would use here: agents, adapters, settings and where each comes from (A3). */
  bindings(document: Json): BindingReport {
    const host = this.#flowHost()
    return bindingReport(document, { host, environment: host.environment })
  }

  #flowHost(): FlowHost & { readonly environment: Environment } {
    const { tools = [], kinds = [], documentSecrets = [], bounds } = this.#host
    const { environment = process.env } = this.#host
    return {
      documentSecrets,
      environment,
      ...(bounds === undefined ? {} : { bounds }),
      adapters: this.#adapters,
      tool: (name) => tools.find((tool) => tool.name === name),
      kind: (name) => kinds.find(({ kind }) => kind === name)
    }
  }

  /** Keeps files and directories of the host from loaders, wherever they lie. */
  keepClosed(paths: readonly string[]): void {
    this.#closed.push(...paths)
  }

  /** Hears the text of all turns as it arrives. */
  onDelta(listener: (delta: AgentDelta) => void): void {
    this.#listeners.add(listener)
  }
}
