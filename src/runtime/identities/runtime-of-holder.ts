import { type IdentityId, runtimeError } from '../../core/index.js'

/**
 * A runtime as one of its holders has it: the same in everything, but that `close` lets go of the
 * hold, and that it can be used no longer then. Calls that were made before are finished first, so
 * that a scope may return what it has not awaited.
 */
export function runtimeOfHolder<Runtime extends { readonly identity: IdentityId }>(
  runtime: Runtime,
  release: () => void
): Runtime {
  let isHeld = true
  let underWay = 0
  const over = () => {
    underWay -= 1
    if (!isHeld && underWay === 0) release()
  }
  const close = async () => {
    if (!isHeld) return
    isHeld = false
    if (underWay === 0) release()
  }
  const { identity } = runtime
  const own: Readonly<Record<PropertyKey, unknown>> = {
    ...{ identity, close },
    [Symbol.asyncDispose]: close
  }
  const call = (method: (...given: unknown[]) => unknown, given: unknown[]) => {
    if (!isHeld) throw runtimeError('runtime.closed', {})
    const result = method.apply(runtime, given)
    if (!(result instanceof Promise)) return result
    underWay += 1
    result.then(over, over)
    return result
  }
  return new Proxy({} as Runtime, {
    get(_, name) {
      if (Object.hasOwn(own, name)) return own[name]
      // A promise that resolves with it asks whether it is one.
      if (name === 'then') return undefined
      if (!isHeld) throw runtimeError('runtime.closed', {})
      const value: unknown = Reflect.get(runtime, name, runtime)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => call(value as (...given: unknown[]) => unknown, given)
    }
  })
}
