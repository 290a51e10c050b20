import { createHmac, hash } from 'node:crypto'
import type { Json } from '../src/core/index.js'
import { canonical } from './canonical.js'

/** What a step of the floor asks for outside, if anything. */
export type FloorEffect = 'none' | 'read' | 'write'

/** What one effect leaves behind: journal lines before and after it, and what a receipt says. */
export interface EffectRecords {
  /** Journal line that must be durable before a write is sent; absent for a read. */
  readonly requested: string | undefined
  /** Performs it: the least that an effect can be, a promise that is resolved already. */
  perform(): Promise<EffectResult>
}

export interface EffectResult {
  readonly journal: string
  readonly reference: Json
}

const NAMES = { read: 'bench.lookup', write: 'bench.send' } as const

/** The unavoidable work of one sealed effect: two hashes, a salt, and its journal entries. */
export function effectOf(
  kind: Exclude<FloorEffect, 'none'>,
  blobKey: Buffer,
  unit: {
    readonly id: string
    readonly runId: string
    readonly path: string
    readonly number: number
    readonly index: number
  }
): EffectRecords {
  const { id, runId, path, number, index } = unit
  const effect = NAMES[kind]
  const request = { n: index }
  const requestText = canonical(request)
  const requestHash = hash('sha256', `{"effect":"${effect}","request":${requestText}}`)
  const place = { attempt: 1, path, run: runId, seq: 1, step: number }
  const isWrite = kind === 'write'
  const key = isWrite ? hash('sha256', canonical([runId, path, number, 1, requestHash])) : ''
  const requested = isWrite
    ? line({ ...place, at: Date.now(), effect, k: 'requested', key, n: number, requestHash })
    : undefined
  return {
    requested,
    async perform() {
      const body = await Promise.resolve(request)
      const bodyText = canonical(body)
      const salt = createHmac('sha256', blobKey).update(`${id}1`).digest('hex')
      const sealed = `{"body":${bodyText},"salt":"${salt}"}`
      const responseHash = hash('sha256', sealed)
      const journal = line({
        ...place,
        at: Date.now(),
        body,
        effect,
        k: 'sealed',
        n: number,
        ok: true,
        requestHash,
        responseHash,
        salt
      })
      const reference = { bytes: sealed.length, effect, requestHash, responseHash, seq: 1 }
      return { journal, reference }
    }
  }
}

/** An entry as it stands in a journal. */
export function line(entry: Json): string {
  return `\nJ${canonical(entry)}`
}
