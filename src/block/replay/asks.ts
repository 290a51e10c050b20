import { unreachable } from '../../core/index.js'
import type { Block } from '../define.js'
import { type Finding, unexpected } from '../finding.js'
import type { Ask } from '../protocol.js'
import { blockOf } from '../pump/leaves.js'
import { Outside } from '../run/outside.js'
import type { RunState } from './run-state.js'

/** Takes up what a chart has asked for, as the pump does live. */
export function takeAsk(
  ask: Ask,
  state: RunState,
  blockNamed: (name: string) => Block | undefined
): Finding | undefined {
  switch (ask.kind) {
    case 'attempt': {
      const block = blockOf(ask, blockNamed)
      if (block === undefined) {
        return unexpected('block', 'a registered block', ask.provider ?? ask.block)
      }
      state.open(ask, block)
      return undefined
    }
    case 'timer':
      state.timers.set(ask.path, ask)
      return undefined
    case 'decision':
      state.decisions.set(ask.path, ask)
      return undefined
    case 'cancel':
      state.cancel(ask.path)
      return undefined
    case 'scope.open': {
      const outer = state.scopeAround(ask.path)
      state.scopes.set(ask.path, {
        ask,
        at: ask.frozenAt ?? state.at,
        asked: state.moment,
        outer,
        steps: [],
        outside: new Outside(),
        cancelled: [],
        closing: undefined
      })
      return undefined
    }
    case 'scope.commit':
    case 'scope.abort':
      state.scopeEnds.set(ask.path, ask)
      return undefined
    case 'settled':
      state.settled = ask.response
      return undefined
    case 'waiting':
    case 'resumed':
      return undefined
    default:
      return unreachable(ask)
  }
}
