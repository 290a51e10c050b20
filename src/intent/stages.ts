import type { IntentPort } from '../code/index.js'

/**
 * Events of the pipeline, in the words of machines/intent.ts. `stage.committed`, and
 * `stage.refused` of a result or of a block's own failure, happen in the pump: the pipeline ends
 * before them.
 */
export type StageEvent =
  | 'stage.parsed'
  | 'stage.refused'
  | 'chosen.kernel'
  | 'chosen.block'
  | 'chosen.package'
  | 'stage.measured'
  | 'stage.granted'
  | 'stage.lacking'
  | 'stage.again'
  | 'stage.called'
  | 'stage.executed'

/** Hears every stage that an intent goes through; for tests and inspectors, never for decisions. */
export type StageListener = (unitId: string, event: StageEvent) => void

/** Reports a stage; as a rule there is no listener. */
export type Tell = (event: StageEvent) => void

/** The port of a listened-to intent: refusals and new beginnings are stages too. */
export function listened(port: IntentPort, tell: Tell): IntentPort {
  return Object.create(port, {
    fail: {
      value: (reason: string, details?: Parameters<IntentPort['fail']>[1]) => {
        tell('stage.refused')
        return port.fail(reason, details)
      }
    },
    again: {
      value: () => {
        tell('stage.again')
        return port.again()
      }
    }
  })
}
