import type { BlockContext, IntentPort } from '../code/index.js'
import type { Json } from '../core/index.js'
import { recordedState } from './providers.js'
import type { CallContext } from './scoped-api/answer-calls.js'
import type { HostState } from './scoped-api/host-capability.js'

/** What host capabilities may touch of the unit that runs a package. */
export function hostContext(port: IntentPort): CallContext {
  const state: HostState = {
    ...recordedState(port),
    set: (key, value) => port.write(key, value),
    delete: (key) => port.write(key, undefined),
    list: (prefix) => port.list(prefix)
  }
  return {
    unitId: port.unitId,
    now: () => port.at,
    state,
    obligedFirst: (capability, request) => port.obligedFirst(capability, request),
    effect: async <Result extends Json>(
      name: string,
      options: Parameters<BlockContext['effect']>[1]
    ) => {
      const {
        request = null,
        sideEffects = 'none',
        perform,
        locate
      } = typeof options === 'function' ? { perform: options } : options
      const effect = { name, request, sideEffects, perform, locate }
      // The provider's answer is plain JSON; its type is the caller's claim.
      return (await port.effect(effect)) as Result
    }
  }
}
