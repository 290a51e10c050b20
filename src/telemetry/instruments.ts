import type { ModelCall } from './gen-ai.js'
import type { Adds, Meter, Records } from './port.js'

const MS_A_SECOND = 1_000

/** What is counted. Names and units are those of docs/telemetry.md. */
export class Instruments {
  readonly #active: Adds
  readonly #waits: Adds
  readonly #steps: Records
  readonly #effects: Records
  readonly #commits: Records
  readonly #receipts: Adds
  readonly #retries: Adds
  readonly #modelCalls: { readonly tokens: Records; readonly duration: Records } | undefined

  constructor(meter: Meter, isGenAi: boolean) {
    const seconds = { unit: 's' }
    this.#active = meter.createUpDownCounter('tally.run.active', { unit: '{run}' })
    this.#waits = meter.createUpDownCounter('tally.wait.open', { unit: '{wait}' })
    this.#steps = meter.createHistogram('tally.step.duration', seconds)
    this.#effects = meter.createHistogram('tally.effect.duration', seconds)
    this.#commits = meter.createHistogram('tally.commit.duration', seconds)
    this.#receipts = meter.createCounter('tally.receipts', { unit: '{receipt}' })
    this.#retries = meter.createCounter('tally.retries', { unit: '{retry}' })
    this.#modelCalls = isGenAi
      ? {
          tokens: meter.createHistogram('gen_ai.client.token.usage', { unit: '{token}' }),
          duration: meter.createHistogram('gen_ai.client.operation.duration', seconds)
        }
      : undefined
  }

  runs(change: 1 | -1): void {
    this.#active.add(change)
  }

  waits(change: number, reason: string): void {
    this.#waits.add(change, { 'tally.wait.reason': reason })
  }

  step(block: string, durationMs: number, error: string | undefined): void {
    this.#steps.record(durationMs / MS_A_SECOND, failedAs({ 'tally.block': block }, error))
  }

  effect(effect: string, durationMs: number, error: string | undefined): void {
    const attributes = failedAs({ 'tally.effect': effect }, error)
    this.#effects.record(durationMs / MS_A_SECOND, attributes)
  }

  modelCall({ model, usage }: ModelCall, durationMs: number, error: string | undefined): void {
    const operation = {
      'gen_ai.operation.name': 'chat',
      ...(model === undefined ? {} : { 'gen_ai.response.model': model })
    }
    const { tokens, duration } = this.#modelCalls ?? {}
    duration?.record(durationMs / MS_A_SECOND, failedAs(operation, error))
    if (usage === undefined) return
    tokens?.record(usage.input, { ...operation, 'gen_ai.token.type': 'input' })
    tokens?.record(usage.output, { ...operation, 'gen_ai.token.type': 'output' })
  }

  commit(durationMs: number, units: number): void {
    this.#commits.record(durationMs / MS_A_SECOND)
    if (units > 0) this.#receipts.add(units)
  }

  retry(block: string): void {
    this.#retries.add(1, { 'tally.block': block })
  }
}

function failedAs(attributes: Record<string, string>, error: string | undefined) {
  return error === undefined ? attributes : { ...attributes, 'error.type': error }
}
