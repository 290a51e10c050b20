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
