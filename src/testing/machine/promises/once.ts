import type { Deed } from '../world-parts.js'
import { type Broken, firstBroken, type MachinePromise, shortened } from './promise.js'

/**
 * Nothing is done twice outside without a person having been asked: not under the same key, and
 * not under another one while it was open what had become of the first.
 */
export const once: MachinePromise = {
  code: 'once',
  text: 'nothing is done twice outside without a person having been asked',
  check: (evidence) => firstBroken(evidence, ({ world }) => twice(world.deeds))
}

function twice(deeds: readonly Deed[]): Broken | undefined {
  const done = new Map<string, number>()
  for (const { key, effect, request, isOrdered, openBefore } of deeds) {
    if (openBefore !== undefined) {
      return {
        problem: `${effect} was done under another key while the first outcome was unknown`,
        expected: 'the same effect of the same step, or a question to a person',
        actual: `${effect} ${shortened(request)}`
      }
    }
    const before = done.get(key) ?? 0
    if (before > 0 && !isOrdered) {
      return {
        problem: `${effect} was done ${before + 1} times under one key`,
        expected: 'once, or a person says that it is to be sent again',
        actual: `${effect} ${shortened(request)}`
      }
    }
    done.set(key, before + 1)
  }
  return undefined
}
