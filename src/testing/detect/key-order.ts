import { type Api, look } from './watch.js'

const api: Api = {
  kind: 'order of keys',
  name: 'order of keys',
  instead: 'the keys sorted, or a list in the input'
}

/** A copy that notes where the keys of its objects are listed; what is no plain data stays. */
export function watchedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(watchedKeys)
  if (typeof value !== 'object' || value === null) return value
  if (Reflect.getPrototypeOf(value) !== Object.prototype) return value
  const members = Object.entries(value).map(([key, member]) => [key, watchedKeys(member)])
  return new Proxy(Object.fromEntries(members), {
    ownKeys(target) {
      look(api)
      return Reflect.ownKeys(target)
    }
  })
}
