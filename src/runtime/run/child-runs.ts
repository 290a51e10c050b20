import type { Provider } from '../../block/index.js'
import { CHILD_EFFECT, type EffectCall, EffectFailure } from '../../code/index.js'
import {
  isJsonObject,
  isTallyError,
  type Json,
  limits,
  type RunId,
  shownText
} from '../../core/index.js'
import type { DocumentCompiler } from '../code/document-compiler.js'
import type { Runs } from './runs.js'

/**
 * Runs that workflows in code start and wait for (B12).
 *
 * Owns: how deep those of this process stand below one another. Does not own: the runs.
 *
 * L6, L7: the id says which run it is, so that asking again, also after a crash, attaches to it.
 */
export class ChildRuns {
  readonly #documents: DocumentCompiler
  readonly #runs: () => Pick<Runs, 'begin'>
  readonly #depths = new Map<string, number>()
  readonly provider: Provider = {
    name: CHILD_EFFECT,
    perform: (call) => this.#perform(call)
  }

  constructor(documents: DocumentCompiler, runs: () => Pick<Runs, 'begin'>) {
    this.#documents = documents
    this.#runs = runs
  }

  async #perform({ request, principal = null, runId = '' as RunId }: EffectCall): Promise<Json> {
    const { id, workflow, input = null } = isJsonObject(request) ? request : {}
    const depth = (this.#depths.get(runId) ?? 1) + 1
    if (depth > limits.WORKFLOW_CHILD_DEPTH_MAX) throw refused('too_deep', { depth })
    const child = shownText(id) as RunId
    this.#depths.set(child, depth)
    try {
      const prepared = async () => this.#documents.prepareWorkflow(shownText(workflow))
      const entry = this.#runs().begin(child, prepared(), {
        inputs: input,
        principal,
        parent: runId
      })
      const { response } = await entry.result
      return { ...response, metadata: {} } as unknown as Json
    } catch (error) {
      // This process lets go of it: the parent asks for it again when it is resumed.
      if (isTallyError(error, 'run.interrupted')) return new Promise<never>(() => undefined)
      if (isTallyError(error)) throw refused(error.code, { message: error.message })
      throw error
    } finally {
      this.#depths.delete(child)
    }
  }
}

function refused(reason: string, details: Json): EffectFailure {
  return new EffectFailure(reason, { definite: true, details })
}
