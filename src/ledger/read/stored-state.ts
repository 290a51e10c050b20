import { unwrapText } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import type { Store } from '../stores/port.js'

/** State entries as they are stored: key and canonical JSON. */
export async function* storedState(
  store: Store,
  keys: StoreKeys
): AsyncGenerator<readonly [key: string, text: string]> {
  for await (const [key, value] of store.entries(keys.states(''))) {
    yield [keys.stateKey(key), unwrapText(key, value)]
  }
}
