import { promisify } from 'node:util'
import { type Api, look, unwatched } from './watch.js'

/** Replaces built-ins by ones that first look whether code of a block uses them. */

export type Condition = (given: readonly unknown[]) => boolean

const always: Condition = () => true

/** Replaces one function or class, wherever on the way of prototypes it is. */
export function guard(object: object, name: string, api: Api, when: Condition = always): void {
  const owner = ownerOf(object, name)
  if (owner === undefined) return
  const own = Object.getOwnPropertyDescriptor(owner, name)
  if (own === undefined || own.configurable !== true) return
  const original: unknown = Reflect.get(owner, name)
  if (typeof original !== 'function') return
  const value = guarded(original, api, when)
  const { configurable, enumerable = true } = own
  Object.defineProperty(owner, name, { configurable, enumerable, writable: true, value })
}

/** Notes that a property is read, and gives it as it is. */
export function guardProperty(object: object, name: string, api: Api): void {
  const owner = ownerOf(object, name)
  if (owner === undefined) return
  const own = Object.getOwnPropertyDescriptor(owner, name)
  if (own === undefined || own.configurable !== true) return
  let value: unknown = own.value
  Object.defineProperty(owner, name, {
    configurable: true,
    enumerable: own.enumerable ?? true,
    get(this: unknown) {
      look(api)
      return own.get === undefined ? value : Reflect.apply(own.get, this, [])
    },
    set(this: unknown, next: unknown) {
      if (own.set === undefined) value = next
      else Reflect.apply(own.set, this, [next])
    }
  })
}

export function guarded<Original extends object>(
  original: Original,
  api: Api,
  when: Condition = always
): Original {
  const noticed = (given: readonly unknown[]) => {
    if (when(given)) look(api)
  }
  return new Proxy(standIn(original), {
    apply(_target, self, given) {
      noticed(given)
      return unwatched(() => Reflect.apply(original as unknown as () => unknown, self, given))
    },
    construct(_target, given, newTarget) {
      noticed(given)
      const made = original as unknown as new () => object
      return unwatched(() => Reflect.construct(made, given, newTarget))
    },
    get(_target, name) {
      const value: unknown = Reflect.get(original, name)
      // `promisify` takes this form of a function where it has one.
      if (name !== promisify.custom || typeof value !== 'function') return value
      return guarded(value, api, when)
    }
  })
}

/** What a proxy may show otherwise than it is: no member of it is fixed. */
function standIn<Original extends object>(original: Original): Original {
  const custom = Object.getOwnPropertyDescriptor(original, promisify.custom)
  if (custom === undefined || custom.configurable === true || custom.get !== undefined) {
    return original
  }
  const target: unknown = () => undefined
  return target as Original
}

/** An object whose members are read, listed or changed nowhere inside a block. */
export function guardedRecord<Original extends object>(
  original: Original,
  apiOf: (name: string | undefined) => Api
): Original {
  const noticed = (name?: string | symbol) => {
    if (typeof name !== 'symbol') look(apiOf(name))
  }
  return new Proxy(original, {
    get(target, name) {
      noticed(name)
      return Reflect.get(target, name)
    },
    has(target, name) {
      noticed(name)
      return Reflect.has(target, name)
    },
    set(target, name, value) {
      noticed(name)
      return Reflect.set(target, name, value)
    },
    deleteProperty(target, name) {
      noticed(name)
      return Reflect.deleteProperty(target, name)
    },
    ownKeys(target) {
      noticed()
      return Reflect.ownKeys(target)
    }
  })
}

function ownerOf(object: object, name: string): object | undefined {
  for (let at: object | null = object; at !== null; at = Reflect.getPrototypeOf(at)) {
    if (Object.hasOwn(at, name)) return at
  }
  return undefined
}
