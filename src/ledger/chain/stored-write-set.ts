import { type Hash, isHash, isJsonObject, type Json } from '../../core/index.js'
import type { InstalledPackages } from '../receipt/packages.js'
import { readCanonical } from '../receipt/parse.js'
import { hashKey, hashValue, type StateTree } from '../state/index.js'

/** A change as a stored write set tells it. */
export interface StoredChange {
  readonly key: string
  /** Canonical JSON, null when deleted, undefined when only the hash stands in the write set. */
  readonly text: string | null | undefined
  /** Hash of the text; undefined when deleted. */
  readonly valueHash: Uint8Array | undefined
  /** What stands for the text before: itself, or a reference; undefined when the key was absent. */
  readonly before: string | undefined
  /**
   * Hash that a reference gives for the text before; undefined when the text itself stands there.
   */
  readonly beforeHash: Uint8Array | undefined
  /** What stands for the text: itself, or a reference; undefined when deleted. */
  readonly after: string | undefined
}

/** Reads a write set; undefined when it is malformed. */
export function parseWriteSet(text: string): readonly StoredChange[] | undefined {
  if (text === '[]') return []
  const read = readCanonical(text)
  if (read === undefined || !Array.isArray(read.value)) return undefined
  const { value, textOf } = read
  const changes: StoredChange[] = []
  for (const entry of value as readonly Json[]) {
    if (!isJsonObject(entry) || typeof entry['key'] !== 'string') return undefined
    const { key, after, before } = entry
    const isReference = after !== undefined && blobHash(after) !== undefined
    const afterText = after === undefined ? undefined : textOf(after)
    const beforeText = before === undefined ? undefined : textOf(before)
    changes.push({
      key,
      text: afterText === undefined ? null : isReference ? undefined : afterText,
      valueHash: after === undefined ? undefined : valueHashOf(after, afterText ?? ''),
      before: beforeText,
      beforeHash: before === undefined ? undefined : blobBytes(before),
      after: afterText
    })
  }
  return changes
}

/** The state after a stored write set. */
export function applyWriteSet(
  state: { readonly tree: StateTree; readonly packages: InstalledPackages },
  changes: readonly StoredChange[]
): { readonly tree: StateTree; readonly packages: InstalledPackages } {
  let { tree, packages } = state
  for (const { key, text, valueHash } of changes) {
    const keyHash = hashKey(key)
    tree = valueHash === undefined ? tree.delete(keyHash) : tree.set(keyHash, valueHash)
    if (text !== undefined) packages = packages.changed(key, text)
  }
  return { tree, packages }
}

function valueHashOf(value: Json, text: string): Uint8Array {
  return blobBytes(value) ?? hashValue(text)
}

function blobBytes(value: Json): Uint8Array | undefined {
  const hash = blobHash(value)
  return hash === undefined ? undefined : Buffer.from(hash, 'hex')
}

/** State values with keys that begin with "$" are refused, so this is always a reference. */
function blobHash(value: Json): Hash | undefined {
  if (!isJsonObject(value)) return undefined
  const hash = value['$blob']
  return isHash(hash) ? hash : undefined
}
