import type { JsonObject } from '../../core/index.js'
import type { SealedReference } from '../journal.js'
import { referenceTo } from '../run/folded-answers.js'
import type { Past } from '../run/past.js'

/**
 * What attempts that did not succeed have done outside, or may have done: it happened all the same,
 * and evidence of the run tells of it.
 */
export class Landed {
  /** Write-class results. */
  readonly all: SealedReference[] = []
  /** Write-class effects that were sent and never answered. */
  inDoubt: readonly JsonObject[] = []

  failed(path: string, past: Past): void {
    const { requested, tape } = past
    this.all.push(...past.written().map(referenceTo))
    for (const { seq, effect, key } of requested.values()) {
      if (tape.has(seq)) continue
      this.inDoubt = [...this.inDoubt, { path, effect, key }]
    }
  }

  /** A later attempt of the step found out what had become of its effects. */
  succeeded({ requested }: Past): void {
    const keys = new Set<unknown>([...requested.values()].map(({ key }) => key))
    this.inDoubt = this.inDoubt.filter(({ key }) => !keys.has(key))
  }
}
