import { nextTurn } from '../../core/index.js'

export const QUIET_TURNS = 24
const TURNS_MAX = 200_000

/** Lets the loop turn until `progress` stays the same; rejects when it never does. */
export async function settleDown(
  progress: () => unknown,
  options: { readonly quietTurns?: number; readonly turnsMax?: number } = {}
): Promise<void> {
  const { quietTurns = QUIET_TURNS, turnsMax = TURNS_MAX } = options
  let last: unknown
  let quiet = 0
  for (let turn = 0; turn < turnsMax; turn += 1) {
    await nextTurn()
    const now = progress()
    quiet = now === last ? quiet + 1 : 0
    last = now
    if (quiet >= quietTurns) return
  }
  throw new Error('it does not settle down')
}
