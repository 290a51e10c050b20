import type { PlanDefinition } from '../block/index.js'
import type { Block } from '../code/index.js'
import {
  atOnce,
  checkingSchema,
  isJsonObject,
  type Json,
  type Locate,
  type Pieces,
  workflowError
} from '../core/index.js'
import type { ExpressionProfile, LoadedExpressions } from '../expression/index.js'
import { bundleSchema, isBundle, ownersAloneIn } from './document/bundle.js'
import { packConstraints } from './document/constraints.js'
import { flowSchemaNames, type OnError } from './document/flow.js'
import { type Issue, moreIssues, reportingIssues } from './document/issue.js'
import type { PackDocument } from './document/pack.js'
import { type DocumentSource, parsePack, parseProtocol, parsingSource } from './document/parse.js'
import type { ProtocolDocument } from './document/protocol.js'
import { noValues, workflowBlocks } from './engine/blocks.js'
import { RunBudgets } from './engine/budget.js'
import { definitionOf, makingDefinition } from './engine/compile.js'
import type { RunMode } from './engine/node-spec.js'
import { SentWrites } from './engine/sealed-write.js'
import { givenOf } from './engine/spec.js'
import { lintingFlow } from './lint/lint.js'
import { planningFlow } from './plan/planner.js'
import { tighterConstraints } from './policy/constraints.js'
import { defaultPolicy, type Policy, tightened, underFlow, unfitPacks } from './policy/policy.js'
import { type InputProblem, prepareRuntime } from './readiness/runtime.js'
import { type CompileValues, ValueMemo } from './value/compile.js'

/** What a program brings for workflows of AIS; all of it optional. */
export interface WorkflowHost {
  /** Documents `ais/0.0.2`, text or parsed, that workflows may name. */
  readonly protocols?: readonly DocumentSource[]
  /** Documents `ais-pack/0.0.2`; each makes the policy tighter (W12). */
  readonly packs?: readonly DocumentSource[]
  /** What packs only make tighter. Default: risks up to 2 go, from 3 on they ask. */
  readonly policy?: Partial<
    Pick<Policy, 'autoExecuteMaxRisk' | 'requireApprovalMinRisk' | 'constraints'>
  >
  /** Chain of nodes that name none. */
  readonly defaultChain?: string
  /** Default `ask`: each write waits for a person. */
  readonly writes?: RunMode['writes']
  /** What a failure leads to where the workflow says nothing; default `ask`: it waits (W13). */
  readonly onError?: OnError
}

/** A workflow as the plan that runs it, or what is wrong with it. */
export type CompiledWorkflow =
  | {
      readonly ok: true
      readonly definition: PlanDefinition
      /** The same inside of other documents: it checks its inputs first. */
      readonly used: () => PlanDefinition
      readonly issues: readonly Issue[]
      /** What the bundle says and only the owner may: an agent's run does not begin (K15). */
      readonly ownersAlone: readonly Issue[]
      /** Inputs of another type, or that the workflow does not have. Absent ones are asked for. */
      readonly checkInputs: (given: Json) => readonly InputProblem[]
    }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/**
 * The workflow room's share in a runtime.
 *
 * Owns: what compiles expressions, once {@link WorkflowParts.use} has brought it. Does not own:
 * runs, chains, documents.
 */
export class WorkflowParts {
  readonly blocks: readonly Block[]
  readonly budgets = new RunBudgets()
  readonly writes = new SentWrites()
  readonly providers = [this.budgets.provider, this.writes.provider]
  readonly #host: WorkflowHost
  readonly #protocols: readonly ProtocolDocument[]
  readonly #packs: readonly PackDocument[]
  readonly #floor: Policy
  #values: CompileValues | undefined
  #engineValues: Readonly<Record<ExpressionProfile, CompileValues>> | undefined

  /** Throws `workflow.invalid_document` for a protocol or pack that is none or does not fit. */
  constructor(host: WorkflowHost = {}) {
    this.#host = host
    this.#protocols = (host.protocols ?? []).map((source) =>
      read(parseProtocol(source), 'protocol')
    )
    this.#packs = (host.packs ?? []).map((source) => read(parsePack(source), 'pack'))
    this.#floor = floorOf(host.policy)
    // Throws where two of them name approvers that do not fit: no workflow could compile.
    this.#packs.reduce(tightened, defaultPolicy)
    this.blocks = workflowBlocks((profile) => this.#engineValues?.[profile] ?? noValues())
  }

  /** Whether a document is a workflow, alone or in a bundle. */
  matches(document: Json): boolean {
    if (isBundle(document)) return true
    const schema = isJsonObject(document) ? document['schema'] : undefined
    if (typeof schema !== 'string') return false
    return isFlowName(schema) || /^ais-(flow|plan|plan-skeleton)\//.test(schema)
  }

  /** Brings what compiles values; needed before {@link compile} and before a run. */
  use(expressions: LoadedExpressions): void {
    const { ais } = expressions
    this.#values ??= ais
    this.#engineValues ??= {
      'tally-cel/1': { ...expressions, memo: new ValueMemo() },
      'ais-cel/1': { ...ais, memo: new ValueMemo() }
    }
  }

  /** A workflow as a dependency graph of blocks. What is wrong is data. */
  compile(document: Json, options: { readonly locate?: Locate } = {}): CompiledWorkflow {
    return atOnce(this.compiling(document, options))
  }

  /** {@link compile} in pieces: other work may be done wherever it yields. */
  *compiling(
    document: Json,
    { locate }: { readonly locate?: Locate } = {}
  ): Pieces<CompiledWorkflow> {
    const parts = yield* this.#partsOf(document)
    if (!parts.ok) return parts
    const { mode, ownersAlone } = parts
    const parsed = yield* parsingSource('flow', parts.flow)
    if (!parsed.ok) return yield* refused(parsed.issues, locate)
    const protocols = [...parts.protocols, ...this.#protocols]
    const values = this.#values ?? noValues()
    const packs = [...this.#packs, ...parts.packs]
    const defaultChain = parts.defaultChain ?? this.#host.defaultChain
    const onError = parts.onError ?? this.#host.onError
    const planned = yield* planningFlow({
      flow: parsed.document,
      ...(parsed.origin === undefined ? {} : { origin: parsed.origin }),
      protocols,
      values,
      packs,
      ...(defaultChain === undefined ? {} : { defaultChain }),
      ...(onError === undefined ? {} : { onError })
    })
    if (!planned.ok) return yield* refused(planned.issues, locate)
    const { flow, plan, resolved } = planned
    const { requiresPack: needed } = plan
    const message =
      needed !== null && packs.length === 0
        ? `it needs the pack ${needed.name}@${needed.version}`
        : unfitPacks(packs)
    if (message !== undefined) {
      const issue = { code: 'pack_mismatch', severity: 'error', path: ['requires_pack'] } as const
      return yield* refused([{ ...issue, message }], locate)
    }
    const given = packs.reduce(tightened, this.#floor)
    const policy = underFlow(given, parsed.document)
    const doubts = yield* lintingFlow({ flow, plan, resolved, values, packs })
    return {
      ok: true,
      definition: yield* makingDefinition(plan, { policy, mode }),
      used: () => definitionOf(plan, { policy, mode, isUsed: true }),
      ownersAlone,
      checkInputs: (given) => {
        const prepared = prepareRuntime(plan, givenOf(given))
        return prepared.ok ? [] : prepared.problems
      },
      issues: yield* reportingIssues([...planned.issues, ...doubts], locate)
    }
  }

  *#partsOf(document: Json): Pieces<Parts | Refused> {
    const writes = this.#host.writes ?? 'ask'
    if (!isBundle(document)) {
      const mode = { writes, yes: false }
      const unsaid = { defaultChain: undefined, onError: undefined, ownersAlone: [] }
      return { ok: true, flow: document, protocols: [], packs: [], mode, ...unsaid }
    }
    const parsed = yield* checkingSchema(bundleSchema, document)
    if (!parsed.success) {
      const issues = parsed.issues.map(({ path, message }): Issue => {
        const at = path.map((key) => (typeof key === 'number' ? key : String(key)))
        return { code: 'schema_violation', severity: 'error', path: at, message }
      })
      const { hidden } = parsed
      return { ok: false, issues: hidden === 0 ? issues : [...issues, moreIssues(hidden, 'error')] }
    }
    const { flow, default_chain: defaultChain, on_error: onError, yes = false } = parsed.data
    const found: Issue[] = []
    const protocols: ProtocolDocument[] = []
    for (const one of parsed.data.protocols) {
      protocols.push(...collected(yield* parsingSource('protocol', one as Json), found))
    }
    const packs: PackDocument[] = []
    for (const one of parsed.data.packs) {
      packs.push(...collected(yield* parsingSource('pack', one as Json), found))
    }
    if (found.length > 0) return { ok: false, issues: found }
    const mode = { writes: parsed.data.writes ?? writes, yes }
    const said = { flow: flow as Json, protocols, packs, mode, defaultChain, onError }
    return { ok: true, ...said, ownersAlone: ownersAloneIn(parsed.data, writes) }
  }
}

type Refused = CompiledWorkflow & { readonly ok: false }

function* refused(issues: readonly Issue[], locate: Locate | undefined): Pieces<Refused> {
  return { ok: false, issues: yield* reportingIssues(issues, locate) }
}

interface Parts {
  readonly ok: true
  readonly flow: Json
  readonly protocols: readonly ProtocolDocument[]
  readonly packs: readonly PackDocument[]
  readonly mode: RunMode
  readonly defaultChain: string | undefined
  readonly onError: OnError | undefined
  readonly ownersAlone: readonly Issue[]
}

type Parsed<Document> =
  | { readonly ok: true; readonly document: Document }
  | { readonly ok: false; readonly issues: readonly Issue[] }

function collected<Document>(parsed: Parsed<Document>, found: Issue[]): readonly Document[] {
  if (parsed.ok) return [parsed.document]
  for (const issue of parsed.issues) found.push(issue)
  return []
}

function read<Document>(parsed: Parsed<Document>, kind: string): Document {
  if (parsed.ok) return parsed.document
  const [first] = parsed.issues
  const problem = `${first?.path.join('.') ?? ''}: ${first?.message ?? ''}`
  throw workflowError('workflow.invalid_document', { kind, problem })
}

/** The policy of a host. Throws `workflow.invalid_document` where its bounds are none. */
function floorOf({
  constraints = {},
  ...levels
}: NonNullable<WorkflowHost['policy']> = {}): Policy {
  const parsed = packConstraints.safeParse(constraints)
  if (parsed.success) {
    return { ...defaultPolicy, ...levels, constraints: tighterConstraints({}, parsed.data) }
  }
  const [first] = parsed.error.issues
  const problem = `${first?.path.join('.') ?? ''}: ${first?.message ?? ''}`
  throw workflowError('workflow.invalid_document', { kind: 'policy', problem })
}

function isFlowName(schema: string): boolean {
  return flowSchemaNames.some((one) => one === schema)
}
