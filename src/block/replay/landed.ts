import type { JsonObject } from '../../core/index.js'
import type { SealedReference } from '../journal.js'
import type { Sealed } from '../pump/entries.js'
import type { Past } from '../pump/past.js'

/**
 * What attempts that did not succeed have done outside, or may have done: it happened all the same,
 * and evidence of the run tells of it.
 */
export class Landed {
  /** Write-class results. */
  readonly all: SealedReference[] = []
  /** Write-class effects that were sent and never answered. */
  inDoubt: readonly JsonObject[] = []

  failed(path: string, { requested, tape }: Past): void {
    this.all.push(...tape.filter(({ seq }) => requested.has(seq)).map(referenceTo))
    for (const { seq, effect, key } of requested.values()) {
      if (tape.some((entry) => entry.seq === seq)) continue
      this.inDoubt = [...this.inDoubt, { path, effect, key }]
    }
  }

  /** A later attempt of the step found out what had become of its effects. */
  succeeded({ requested }: Past): void {
    const keys = new Set<unknown>([...requested.values()].map(({ key }) => key))
    this.inDoubt = this.inDoubt.filter(({ key }) => !keys.has(key))
  }
}

export function referenceTo(entry: Sealed): SealedReference {
  const { seq, effect, requestHash, responseHash, body } = entry
  const bytes = Buffer.byteLength(JSON.stringify(body))
  return { seq, effect, requestHash, responseHash, bytes }
}
