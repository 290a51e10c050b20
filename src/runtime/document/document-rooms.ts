import type { AgentHost, AgentParts, SessionNotes } from '../../agent/index.js'
import type { Diagnostic, DocumentDefinition, Provider } from '../../block/index.js'
import type { Block } from '../../code/index.js'
import {
  anyWithin,
  type Clock,
  coreError,
  isJsonObject,
  type Json,
  type Redactor,
  type RunId
} from '../../core/index.js'
import type { LoadedExpressions } from '../../expression/index.js'
import type { NetworkOptions } from '../../intent/index.js'
import type { bundling, ReadJournal, WorkflowHost, WorkflowParts } from '../../workflow/index.js'
import type { DocumentKind } from './document-kind.js'
import { type DocumentSlices, unboundSlices } from './document-slices.js'

/** What a program brings for the rooms of documents. */
export interface RoomHosts {
  readonly agents?: AgentHost
  readonly workflow?: WorkflowHost
  /** Bounds what documents may have reached, as it does for packages. */
  readonly network?: NetworkOptions
  /** Default: that of the system. */
  readonly clock?: Clock
}

/** A room that only some documents need. */
export type DocumentRoom = 'agent' | 'workflow'

type AgentDelta = Parameters<NonNullable<AgentHost['onDelta']>>[0]

/**
 * The rooms that only some documents need: flows of agents and workflows of AIS. Each is loaded
 * with the first document that needs it, or at once for a program that brings something for it:
 * opening a ledger takes a third less without them.
 *
 * Owns: which of them are loaded. Does not own: the sessions of agents, which are their room's.
 */
export class DocumentRooms {
  readonly #hosts: RoomHosts
  readonly #redactor: Redactor
  readonly #register: (blocks: readonly Block[], providers: readonly Provider[]) => void
  readonly #expressions: () => Promise<LoadedExpressions>
  readonly #kinds: DocumentKind[] = []
  readonly #listeners: ((delta: AgentDelta) => void)[] = []
  readonly #closed: string[] = []
  /** By the names of their blocks. */
  readonly #rooms = new Map<string, DocumentRoom>()
  #notes: SessionNotes | undefined
  #isOver: (runId: string) => boolean = () => false
  #outOfBounds: (definition: DocumentDefinition) => readonly Diagnostic[] = () => []
  /** Nodes that name a block of workflows by hand; there are none before that room is loaded. */
  #byHand: (definition: DocumentDefinition) => readonly Diagnostic[] = () => []
  #ownersAlone: (definition: DocumentDefinition) => readonly Diagnostic[] = () => []
  /** Sessions that are being let go of. */
  readonly #leaving = new Set<Promise<void>>()
  #agents: Promise<AgentParts> | undefined
  #agentParts: AgentParts | undefined
  #workflow: Promise<WorkflowParts> | undefined
  #workflowParts: WorkflowParts | undefined
  // Without a journal nothing says that nothing was spent or sent.
  #journal: ReadJournal = async () => {
    throw coreError('core.internal', { problem: 'no journal tells what a run has done' })
  }

  constructor(options: {
    readonly hosts: RoomHosts
    readonly redactor: Redactor
    /** Takes what a room brings, before its first document is compiled. */
    readonly register: (blocks: readonly Block[], providers: readonly Provider[]) => void
    readonly expressions: () => Promise<LoadedExpressions>
  }) {
    this.#hosts = options.hosts
    this.#redactor = options.redactor
    this.#register = options.register
    this.#expressions = options.expressions
  }

  /** Kinds of documents of the rooms that are loaded; they know what the host brings. */
  get kinds(): readonly DocumentKind[] {
    return this.#kinds
  }

  /** Loads what the host brings something for. Throws for what it brings and is not sound. */
  async loadHosted(): Promise<void> {
    const { agents, workflow } = this.#hosts
    if (agents !== undefined) await this.#loadAgents()
    if (workflow !== undefined) await this.#loadWorkflow()
  }

  /** Loads the room that reads a document; most need none. */
  async loadFor(document: Json): Promise<void> {
    if (!isJsonObject(document)) return
    const { schema, meta } = document
    if (schema === undefined && isJsonObject(meta)) await this.#loadAgents()
    if (typeof schema === 'string' && schema.startsWith('ais-')) await this.#loadWorkflow()
  }

  /** Loads the rooms whose blocks a definition or a name means; they may stand deep inside it. */
  async loadForBlocks(
    named: DocumentDefinition | string,
    slices: DocumentSlices = unboundSlices
  ): Promise<void> {
    // A definition is plain JSON by construction; its type only names the members.
    const value = named as unknown as Json
    let agents = this.#agents !== undefined
    let workflow = this.#workflow !== undefined
    if (!agents || !workflow) {
      const mentionsBoth = anyWithin(value, (one) => {
        if (typeof one !== 'string') return false
        // A room that is loaded for a text in a value does no harm.
        agents ||= one.startsWith('agent.') || one.startsWith('flow.')
        workflow ||= one.startsWith('ais.')
        return agents && workflow
      })
      const { ok } = await slices.takeEach(mentionsBoth)
      if (!ok) agents = workflow = true
    }
    if (agents) await this.#loadAgents()
    if (workflow) await this.#loadWorkflow()
  }

  /** The room that a block is of; undefined for blocks of the program and of other rooms. */
  roomOf({ name }: Block): DocumentRoom | undefined {
    return this.#rooms.get(name)
  }

  /** What a definition chooses and the host does not allow (K15). */
  outOfBounds(definition: DocumentDefinition): readonly Diagnostic[] {
    return [...this.#outOfBounds(definition), ...this.#byHand(definition)]
  }

  /** What a definition chooses and only the owner may, whatever the host allows (K15). */
  ownersAlone(definition: DocumentDefinition): readonly Diagnostic[] {
    return this.#ownersAlone(definition)
  }

  /** What makes a workflow and protocols for it one document. */
  async bundling(): Promise<typeof bundling> {
    return (await import('../../workflow/index.js')).bundling
  }

  /** Hears the text of all turns as it arrives. */
  onDelta(listener: (delta: AgentDelta) => void): void {
    this.#listeners.push(listener)
    this.#agentParts?.onDelta(listener)
  }

  /** Keeps files and directories of the host from what documents have read. */
  keepClosed(paths: readonly string[]): void {
    this.#closed.push(...paths)
    this.#agentParts?.keepClosed(paths)
  }

  /** A run has left memory: its agents' sessions end. */
  disposeRun(runId: RunId): void {
    this.#workflowParts?.budgets.forget(runId)
    if (this.#agentParts !== undefined) this.#leave(this.#disposeRun(this.#agentParts, runId))
  }

  /**
   * Has sessions of agents noted here, and lets go of those that runs which are over have left.
   */
  useNotes(notes: SessionNotes, isOver: (runId: string) => boolean): void {
    this.#notes = notes
    this.#isOver = isOver
    this.#agentParts?.turns.useNotes(notes)
    if (notes.all().some(({ runId }) => isOver(runId))) this.#leave(this.#disposeLeft(isOver))
  }

  /** How what runs have journaled is read. */
  useJournals(read: ReadJournal): void {
    this.#journal = read
  }

  async close(): Promise<void> {
    await Promise.all(this.#leaving)
    await this.#agentParts?.turns.close()
  }

  // A run that only rests keeps what a process before this one has opened for it.
  async #disposeRun({ turns }: AgentParts, runId: RunId): Promise<void> {
    await turns.disposeRun(runId)
    if (this.#isOver(runId)) await turns.disposeLeft((id) => id === runId)
  }

  async #disposeLeft(isOver: (runId: string) => boolean): Promise<void> {
    const { turns } = await this.#loadAgents()
    await turns.disposeLeft(isOver)
  }

  #leave(disposing: Promise<void>): void {
    const leaving = disposing.finally(() => this.#leaving.delete(leaving))
    this.#leaving.add(leaving)
  }

  #bring(
    room: DocumentRoom,
    { blocks, providers }: Pick<AgentParts, 'blocks' | 'providers'>
  ): void {
    this.#register(blocks, providers)
    for (const { name } of blocks) this.#rooms.set(name, room)
  }

  #loadAgents(): Promise<AgentParts> {
    this.#agents ??= this.#openAgents()
    return this.#agents
  }

  async #openAgents(): Promise<AgentParts> {
    const { network, clock } = this.#hosts
    const [{ AgentParts }, { diagnosticsOf, flowKind }] = await Promise.all([
      import('../../agent/index.js'),
      import('./flow-kind.js')
    ])
    const parts = new AgentParts(this.#hosts.agents, {
      redactor: this.#redactor,
      ...(network === undefined ? {} : { network }),
      ...(clock === undefined ? {} : { clock })
    })
    this.#bring('agent', parts)
    this.#kinds.push(flowKind((document) => parts.compiling(document)))
    this.#outOfBounds = (definition) => diagnosticsOf(parts.outOfBounds(definition))
    this.#ownersAlone = (definition) => diagnosticsOf(parts.outOfBoundsOfOthers(definition))
    parts.keepClosed(this.#closed)
    for (const listener of this.#listeners) parts.onDelta(listener)
    if (this.#notes !== undefined) parts.turns.useNotes(this.#notes)
    this.#agentParts = parts
    return parts
  }

  #loadWorkflow(): Promise<WorkflowParts> {
    this.#workflow ??= this.#openWorkflow()
    return this.#workflow
  }

  async #openWorkflow(): Promise<WorkflowParts> {
    const [{ WorkflowParts }, { workflowKind }, { workflowBlocksIn }] = await Promise.all([
      import('../../workflow/index.js'),
      import('./workflow-kind.js'),
      import('./blocks-of-workflows.js')
    ])
    const isOfWorkflows = (block: string) => this.#rooms.get(block) === 'workflow'
    this.#byHand = (definition) => workflowBlocksIn(definition, isOfWorkflows)
    const parts = new WorkflowParts(this.#hosts.workflow)
    parts.use(await this.#expressions())
    parts.budgets.useJournals((runId, text) => this.#journal(runId, text))
    parts.writes.useJournals((runId, text) => this.#journal(runId, text))
    this.#bring('workflow', parts)
    this.#workflowParts = parts
    this.#kinds.push(workflowKind(parts))
    return parts
  }
}
