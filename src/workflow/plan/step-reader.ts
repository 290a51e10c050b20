import {
  type DocumentPath,
  isSliceFull,
  type Pieces,
  passSteps,
  spendWork
} from '../../core/index.js'
import type { Reference } from '../../expression/index.js'
import type { Issues } from '../document/issue.js'
import { protocolKey } from '../document/protocol.js'
import type { AisValue } from '../document/value.js'
import { amountsOf, inputAmounts, returnAmounts } from './amounts.js'
import type { Expansion } from './expansion.js'
import { readingValue, type Surroundings } from './reading.js'
import { type ResolvedNode, type ResolvedStep, readReturns } from './resolve.js'

/** Work of what a node has to have because a value reads something. */
const STEPS_OF_REFERENCE = 4

/** Reads the values of one plan node and gathers what they need. */
export class StepReader {
  readonly deps = new Set<string>()
  readonly contracts = new Set<string>()
  readonly amounts = new Set<string>()
  readonly asks = new Set<string>()
  readonly #source: ResolvedNode
  readonly #earlier: readonly ResolvedStep[]
  readonly #expansion: Expansion
  readonly #around: Surroundings

  constructor(source: ResolvedNode, earlier: readonly ResolvedStep[], expansion: Expansion) {
    this.#source = source
    this.#earlier = earlier
    this.#expansion = expansion
    const { action, callable } = source
    this.#around = {
      values: expansion.values,
      nodeIds: expansion.nodeIds,
      inputs: expansion.inputs,
      params: new Set(callable.params.map(({ name }) => name)),
      queries: new Set(action?.requires_queries ?? []),
      steps: new Set(earlier.map(({ step }) => step ?? ''))
    }
  }

  /** A value of the workflow; it may not read the node it belongs to. */
  flow(value: AisValue, at: DocumentPath, issues: Issues): Pieces<readonly Reference[]> {
    return this.#flow(value, at, issues, false)
  }

  /** `until` and `assert`, which are about the node itself. */
  own(value: AisValue, at: DocumentPath, issues: Issues): Pieces<readonly Reference[]> {
    return this.#flow(value, at, issues, true)
  }

  /** A value of the protocol. */
  *protocol(value: AisValue, at: DocumentPath, issues: Issues): Pieces<readonly Reference[]> {
    const here = issues.of(protocolKey(this.#source.protocol))
    const references = yield* readingValue({ scope: 'protocol', value }, at, this.#around, here)
    for (const reference of references) {
      passSteps(STEPS_OF_REFERENCE)
      if (isSliceFull()) yield
      this.#ofProtocol(reference)
    }
    return references
  }

  /** A value of the workflow in place of a calculated field: it reads what both know. */
  *override(value: AisValue, at: DocumentPath, issues: Issues): Pieces<readonly Reference[]> {
    const references = yield* readingValue({ scope: 'override', value }, at, this.#around, issues)
    for (const reference of references) {
      passSteps(STEPS_OF_REFERENCE)
      if (isSliceFull()) yield
      this.#ofProtocol(reference)
      this.#ofFlow(reference, at, issues, false)
    }
    return references
  }

  #ofProtocol({ root, path }: Reference): void {
    const name = path[0] === undefined ? undefined : String(path[0])
    if (root === 'contracts' && name !== undefined) this.contracts.add(name)
    else if (root === 'params') this.#param(name)
    else if (root === 'query' && name !== undefined) this.asks.add(name)
    else if (root === 'steps' && name !== undefined) this.#step(name)
  }

  *#flow(
    value: AisValue,
    at: DocumentPath,
    issues: Issues,
    isOwn: boolean
  ): Pieces<readonly Reference[]> {
    const references = yield* readingValue({ scope: 'flow', value }, at, this.#around, issues)
    for (const reference of references) {
      passSteps(STEPS_OF_REFERENCE)
      if (isSliceFull()) yield
      this.#ofFlow(reference, at, issues, isOwn)
    }
    return references
  }

  #ofFlow({ root, path }: Reference, at: DocumentPath, issues: Issues, isOwn: boolean): void {
    const name = path[0] === undefined ? undefined : String(path[0])
    if (root === 'contracts' && name !== undefined) this.contracts.add(name)
    else if (root === 'inputs') this.#input(name)
    else if (root === 'nodes' && name !== undefined) {
      if (name === this.#source.node.id && !isOwn) {
        issues.error('self_dep', 'only until and assert may read the node itself', at)
      } else this.#node(name, path)
    }
  }

  #input(name: string | undefined): void {
    const { flow } = this.#expansion
    if (name === undefined) {
      for (const pattern of inputAmounts(flow)) this.#amount(pattern)
    } else if (Object.hasOwn(flow.inputs, name)) {
      const type = flow.inputs[name]?.type ?? ''
      for (const pattern of amountsOf(`inputs.${name}`, type)) this.#amount(pattern)
    }
  }

  #amount(pattern: string): void {
    spendWork(1)
    this.amounts.add(pattern)
  }

  #param(name: string | undefined): void {
    for (const param of this.#source.callable.params) {
      if (name !== undefined && param.name !== name) continue
      for (const pattern of amountsOf(`params.${param.name}`, param.type)) this.#amount(pattern)
    }
  }

  #node(id: string, path: readonly (string | number)[]): void {
    const other = this.#expansion.resolved.get(id)
    if (id !== this.#source.node.id) this.deps.add(id)
    if (other === undefined) return
    for (const pattern of returnAmounts(`nodes.${id}.outputs`, other.returns)) {
      this.#amount(pattern)
    }
    if (path[1] !== 'outputs' || path[2] !== 'steps') return
    const step = other.steps.find((one) => one.step === path[3])
    if (step === undefined) return
    if (step.id !== this.#source.node.id) this.deps.add(step.id)
    const at = `nodes.${id}.outputs.steps.${step.step}`
    for (const pattern of returnAmounts(at, readReturns(step.execution))) this.#amount(pattern)
  }

  #step(name: string): void {
    const step = this.#earlier.find((one) => one.step === name)
    if (step === undefined) return
    this.deps.add(step.id)
    const patterns = returnAmounts(`steps.${name}`, readReturns(step.execution))
    for (const pattern of patterns) this.#amount(pattern)
  }
}
