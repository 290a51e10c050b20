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
 * Codes of the derived records of a ledger, and of what its runs have written (L12), each record
 * hashed once, as opening does it; and whether the records are the set that the watermark names
 * (L4).
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
  #pictures = 0

  constructor(options: DerivedParts & { readonly key: VerificationKey | undefined }) {
    this.#store = options.store
    this.#keys = options.keys
    this.#watermark = options.watermark
    this.#key = options.key
  }

  async problem(): Promise<HookVerdict | undefined> {
    const stamp = this.#store.get(this.#keys.derived)
    const isCoded = stamp !== undefined && hasCode(stamp)
    const ofRuns = await this.#ofRunsProblem()
    if (this.#key === undefined || !isCoded) return ofRuns
    return (
      this.#codeProblem(this.#keys.derived, stamp) ??
      (await this.#setProblem()) ??
      (await this.#rangeProblem(this.#keys.archivedRuns())) ??
      (await this.#rangeProblem(this.#keys.archivedRunsPages())) ??
      (await this.#rangeProblem(this.#keys.statePages())) ??
      (await this.#rangeProblem(this.#keys.allWrites())) ??
      ofRuns
    )
  }

  /** In words, without the key: nothing but their codes says that they are whole. */
  notChecked(): readonly string[] {
    const [runs, pictures] = [this.#checkpoints, this.#pictures]
    const found: string[] = []
    if (runs > 0) found.push(runs === 1 ? 'checkpoint of 1 run' : `checkpoints of ${runs} runs`)
    if (pictures > 0) found.push(pictures === 1 ? '1 picture of a run' : `${pictures} pictures`)
    return found.map((what) => `${what}: what authenticates it needs the blob key`)
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

  /** `unchecked` is called for each without the key; what has no code is none by this version. */
  async #rangeProblem(range: KeyRange, unchecked?: () => void): Promise<HookVerdict | undefined> {
    for await (const [key, value] of this.#store.entries(range)) {
      if (unchecked !== undefined && !hasCode(value)) continue
      if (this.#key === undefined) unchecked?.()
      const problem = this.#codeProblem(key, value)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  async #ofRunsProblem(): Promise<HookVerdict | undefined> {
    const checkpoints = await this.#rangeProblem(this.#keys.checkpoints(), () => {
      this.#checkpoints += 1
    })
    if (checkpoints !== undefined) return checkpoints
    return this.#rangeProblem(this.#keys.pictures(), () => {
      this.#pictures += 1
    })
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
