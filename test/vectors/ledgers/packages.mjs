/** Sandboxed packages of the golden ledgers, as `tally package pack` writes them, unpacked. */
export const packages = {
  counter: {
    id: 'counter',
    intents: ['tally.up'],
    capabilities: ['storage.read', 'storage.write'],
    code: `export async function run(intent, api) {
      const count = (api.storage.get('count') ?? 0) + (intent.payload.by ?? 1)
      api.storage.set('count', count)
      return { count, at: api.now(), chance: api.random() }
    }`
  },
  breaker: {
    id: 'breaker',
    intents: ['break.it'],
    capabilities: ['storage.read'],
    code: `export async function run() { throw new Error('it broke') }`
  }
}
