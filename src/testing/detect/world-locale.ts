import { guard, guarded } from './guards.js'
import type { Api } from './watch.js'

/** Replaces what uses the language or the time zone of the process where none is given. */
export function guardLocales(): void {
  const intl: object = Intl
  for (const name of Object.getOwnPropertyNames(intl)) {
    if (!/^[A-Z]/.test(name) || name === 'Locale') continue
    const usesZone = name === 'DateTimeFormat'
    guard(intl, name, environment(`Intl.${name}`), ([locales, options]) =>
      usesZone ? locales === undefined || !hasZone(options) : locales === undefined
    )
  }
  guardFormat()
  for (const [prototype, type, at] of localised) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      if (!/^toLocale|^localeCompare$/.test(name)) continue
      const place = name === 'localeCompare' ? 1 : at
      const isDate = type === 'Date'
      guard(prototype, name, environment(`${type}.${name}`), (given) =>
        isDate
          ? given[place] === undefined || !hasZone(given[place + 1])
          : given[place] === undefined
      )
    }
  }
}

const localised: readonly (readonly [prototype: object, type: string, at: number])[] = [
  [String.prototype, 'String', 0],
  [Number.prototype, 'Number', 0],
  [BigInt.prototype, 'BigInt', 0],
  [Date.prototype, 'Date', 0],
  [Array.prototype, 'Array', 0]
]

function environment(name: string): Api {
  return {
    kind: 'environment',
    name,
    instead: 'a language and a time zone that are written out or come with the input'
  }
}

function hasZone(options: unknown): boolean {
  if (typeof options !== 'object' || options === null) return false
  return Reflect.get(options, 'timeZone') !== undefined
}

/** A format without a date formats the time that it is. */
function guardFormat(): void {
  const { prototype } = Reflect.get(Intl, 'DateTimeFormat')
  const api = (name: string): Api => ({
    kind: 'clock',
    name: `Intl.DateTimeFormat.${name}`,
    instead: 'the same with ctx.now()'
  })
  const isNow = ([date]: readonly unknown[]) => date === undefined
  guard(prototype, 'formatToParts', api('formatToParts'), isNow)
  const { get } = Object.getOwnPropertyDescriptor(prototype, 'format') ?? {}
  if (get === undefined) return
  Object.defineProperty(prototype, 'format', {
    configurable: true,
    get(this: unknown) {
      const format: object = Reflect.apply(get, this, [])
      return guarded(format, api('format'), isNow)
    }
  })
}
