import type { Request, Response, SideEffectClass } from '../../protocol.js'
import type { Repair } from '../../retry-policy.js'
import type { DocumentDefinition } from '../plan/definition.js'

/** What the compiler needs to know of a leaf; running it is the pump's business. */
export interface LeafDefinition {
  readonly name: string
  readonly version: string
  readonly sideEffects: SideEffectClass
  /** How its writes are undone (C4); only whether there is one counts here. */
  readonly compensate?: unknown
  /** A leaf of the kernel: it chooses at run time who does its work. */
  readonly kernel?: unknown
  /** Effects that it may ask for. */
  readonly capabilities?: readonly string[]
}

/** A named condition: pure, synchronous; throwing or answering no boolean fails the composite. */
export type ConditionPredicate = (response: Response, request: Request) => boolean

/** Where names in a document lead; undefined: no such name. */
export interface BlockRegistry {
  block(name: string): LeafDefinition | undefined
  /** A document that others may `use`: a composite or a plan. */
  composite(name: string): DocumentDefinition | undefined
  condition(name: string): ConditionPredicate | undefined
  repair(name: string): Repair | undefined
  /** Version to which a name alone leads (B10); undefined for what has none. */
  functionVersion?(kind: 'condition' | 'repair', name: string): string | undefined
  /** Who does an effect, as far as undoing it goes. */
  provider?(name: string): { readonly compensate?: unknown } | undefined
}
