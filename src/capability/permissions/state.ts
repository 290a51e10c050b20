import type { Json } from '../../core/index.js'

/** The part of a block's state that permissions read. Values are copies. */
export interface StateReader {
  get(key: string): Json | undefined
}

/** The part of a block's state that permissions change. */
export interface StatePort extends StateReader {
  set(key: string, value: Json): void
  delete(key: string): void
}

/** State entries as they are read, each parsed anew. */
export function stateOf(entries: { read(key: string): string | undefined }): StateReader {
  return {
    get: (key) => {
      const text = entries.read(key)
      return text === undefined ? undefined : (JSON.parse(text) as Json)
    }
  }
}
