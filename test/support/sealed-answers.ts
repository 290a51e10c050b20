import type { Sealed } from '../../src/block/run/entries.js'
import type { Call } from '../../src/code/calls.js'
import { canonicalize, hashJson, type Json, type RunId } from '../../src/core/index.js'

/** Answers of one attempt, as they are sealed. */

export const runId = 'polling' as RunId
export const place = { path: 'root/a', step: 1, attempt: 1 }

export function sealAgain(seq: number, bodyText: string) {
  return hashJson([seq, bodyText])
}

export function sealed(
  call: Pick<Call, 'seq' | 'effect' | 'requestHash'>,
  given: { readonly ok: boolean; readonly body: Json; readonly n?: number }
): Sealed {
  const { seq, effect, requestHash } = call
  const { ok, body, n = seq } = given
  const responseHash = sealAgain(seq, canonicalize(body))
  const salt = hashJson(['salt', seq])
  const answer = { seq, effect, requestHash, responseHash, salt, ok, body }
  return { k: 'sealed', run: runId, n, at: 1_000 + n, ...place, ...answer }
}
