import type { Store } from '../../ledger/index.js'

export function texts(store: Store, range: Parameters<Store['entries']>[0]): Promise<string[]> {
  return collect(store.entries(range))
}

export async function collect(
  entries: AsyncIterable<readonly [key: string, value: Uint8Array]>
): Promise<string[]> {
  const found: string[] = []
  for await (const [key, value] of entries) found.push(`${key}=${text(value)}`)
  return found
}

export function put(key: string, value: string): readonly [key: string, value: Uint8Array] {
  return [key, bytes(value)]
}

export function bytes(value: string): Buffer {
  return Buffer.from(value)
}

export function text(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value).toString()
}
