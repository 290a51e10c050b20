import { guard, guardProperty } from './guards.js'
import { type Api, look } from './watch.js'
import type { World } from './worlds.js'

/**
 * Clock and chance as a world has them: readings that begin anew with each execution, so that two
 * executions read the same unless code keeps something between them.
 *
 * Owns: how often the clock was read and where chance stands, since `beginReadings`.
 */
let now = 0
let chance = 1

export function beginReadings(world: World): void {
  now = world.now
  chance = world.seed
}

const clock = { kind: 'clock', instead: 'ctx.now()' } as const

const dateNow: Api = { ...clock, name: 'Date.now' }
const dateNew: Api = { ...clock, name: 'new Date()' }
const dateCall: Api = { ...clock, name: 'Date()' }

function read(api: Api): number {
  look(api)
  now += 1
  return now
}

export function replaceClock(): void {
  replaceDate()
  const random = () => {
    look({ kind: 'chance', name: 'Math.random', instead: 'ctx.random()' })
    // Park and Miller: deterministic is all that it has to be.
    chance = (chance * 48_271) % 2_147_483_647
    return chance / 2_147_483_647
  }
  Reflect.set(Math, 'random', random)
  for (const name of ['now', 'mark', 'measure', 'toJSON', 'eventLoopUtilization', 'getEntries']) {
    guard(performance, name, { ...clock, name: `performance.${name}` })
  }
  guardProperty(performance, 'timeOrigin', { ...clock, name: 'performance.timeOrigin' })
  guardTemporal()
}

function replaceDate(): void {
  const original = Date
  Reflect.set(original, 'now', () => read(dateNow))
  const replaced = new Proxy(original, {
    apply: () => new original(read(dateCall)).toString(),
    construct(target, given, newTarget) {
      if (given.length > 1) look(localZone('new Date(year, month, …)'))
      const time = given.length === 0 ? [read(dateNew)] : given
      return Reflect.construct(target, time, newTarget)
    }
  })
  Reflect.set(original.prototype, 'constructor', replaced)
  Reflect.set(globalThis, 'Date', replaced)
  for (const name of localNames()) {
    guard(original.prototype, name, localZone(`Date.${name}`))
  }
}

/** Methods of dates that use the time zone of the process. */
function localNames(): readonly string[] {
  const names = Object.getOwnPropertyNames(Date.prototype)
  const fields = names.filter((name) => /^[gs]et(?!UTC|Time$)/.test(name))
  return [...fields, 'getTimezoneOffset', 'toString', 'toDateString', 'toTimeString']
}

function localZone(name: string): Api {
  return { kind: 'environment', name, instead: 'the UTC form, or a zone from the input' }
}

function guardTemporal(): void {
  const temporal: unknown = Reflect.get(globalThis, 'Temporal')
  if (typeof temporal !== 'object' || temporal === null) return
  const here: object = Reflect.get(temporal, 'Now')
  for (const name of Object.getOwnPropertyNames(here)) {
    guard(here, name, { ...clock, name: `Temporal.Now.${name}` })
  }
}
