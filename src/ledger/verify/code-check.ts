import { isTallyError } from '../../core/index.js'
import { RunningDigest } from '../derived/digest.js'
import { digestCode, type Watermark } from '../derived/watermark.js'
import { hasCode } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import type { KeyRange, Store } from '../stores/port.js'
import type { DerivedParts } from './derived-check.js'
import type { VerificationKey } from './key.js'
import { different } from './receipt-check.js'
import type { HookVerdict, VerificationFailure } from './report.js'

const CODE = 'derived.code'
const DIGEST = 'derived.digest'

/** Whether all but codes was found whole: what stands in no snapshot, and what opening checks. */
export function isOfCodes({ field }: VerificationFailure): boolean {
  return field === CODE || field === DIGEST
}

/**
 * Codes of the derived records of a ledger and of its checkpoints (L12), each record hashed once,
 * as opening does it; and whether the records are the set that the watermark names (L4).
 *
 * A ledger of 0.1.0 has no codes: opening makes its records again, and its checkpoints are left
 * aside.
 */
export class CodeCheck {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #watermark: Watermark
  readonly #key: VerificationKey | undefined
  #checkpoints = 0

  constructor(options: DerivedParts & { readonly key: VerificationKey | undefined }) {
    this.#store = options.store
    this.#keys = options.keys
    this.#watermark = options.watermark
    this.#key = options.key
  }

  async problem(): Promise<HookVerdict | undefined> {
    const stamp = this.#store.get(this.#keys.derived)
    const isCoded = stamp !== undefined && hasCode(stamp)
    const checkpoints = await this.#checkpointProblem()
    if (this.#key === undefined || !isCoded) return checkpoints
    return (
      this.#codeProblem(this.#keys.derived, stamp) ??
      (await this.#setProblem()) ??
      (await this.#rangeProblem(this.#keys.archivedRuns())) ??
      (await this.#rangeProblem(this.#keys.archivedRunsPages())) ??
      (await this.#rangeProblem(this.#keys.statePages())) ??
      (await this.#rangeProblem(this.#keys.allWrites())) ??
      checkpoints
    )
  }

  /** In words, without the key: nothing but their codes says that checkpoints are whole. */
  notChecked(): readonly string[] {
    const found = this.#checkpoints
    if (found === 0) return []
    const what = found === 1 ? 'checkpoint of 1 run' : `checkpoints of ${found} runs`
    return [`${what}: what authenticates it needs the blob key`]
  }

  async #setProblem(): Promise<HookVerdict | undefined> {
    if (this.#key === undefined) return undefined
    const codes = this.#key.derived
    const running = new RunningDigest(codes)
    for (const range of this.#keys.digestedRanges()) {
      for await (const [key, value] of this.#store.entries(range)) {
        const problem = codeProblem(key, () => running.add(key, value))
        if (problem !== undefined) return problem
      }
    }
    const { digest } = this.#watermark
    const actual = digestCode(codes, running.digest)
    // The right code is not for those who read reports.
    return digest === actual ? undefined : different(DIGEST, `${digest}`, 'another set')
  }

  async #rangeProblem(range: KeyRange): Promise<HookVerdict | undefined> {
    for await (const [key, value] of this.#store.entries(range)) {
      const problem = this.#codeProblem(key, value)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  async #checkpointProblem(): Promise<HookVerdict | undefined> {
    for await (const [key, value] of this.#store.entries(this.#keys.checkpoints())) {
      if (!hasCode(value)) continue
      if (this.#key === undefined) this.#checkpoints += 1
      const problem = this.#codeProblem(key, value)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  #codeProblem(key: string, value: Uint8Array): HookVerdict | undefined {
    return codeProblem(key, () => this.#key?.derived.open(key, value))
  }
}

function codeProblem(key: string, open: () => unknown): HookVerdict | undefined {
  try {
    open()
    return undefined
  } catch (error) {
    if (!isTallyError(error, 'ledger.corrupt')) throw error
    const computed = String(error.context['problem'])
    return { field: CODE, signed: 'a code by the key of this ledger', computed, key }
  }
}
