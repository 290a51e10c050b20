import { type CapabilityPackage, encodePackage } from '../../capability/index.js'
import type { Json } from '../../core/index.js'
import type { CaseOptions } from './options.js'

/** Target and options as a script has them, without a module from which they come. */
export interface WrittenTarget {
  readonly target: string
  readonly options: string
}

/** Longer targets are found through their modules. */
const LENGTH_MAX = 16 * 1024

/** A target that is plain JSON; undefined: it has code, which only its module has. */
export function writtenTarget(
  target: object,
  packages: readonly CapabilityPackage[]
): Json | undefined {
  const texts = packages.map(encodePackage)
  const [text = ''] = texts
  // A directory is found from where the test runs, and the script may lie elsewhere.
  const own = {
    ...target,
    ...('package' in target ? { package: text } : {}),
    ...('packages' in target ? { packages: texts } : {})
  }
  return isPlain(own) ? own : undefined
}

/**
 * What a script is to have for a case that breaks a promise; undefined where that needs code of the
 * options. Invariants are left out where another promise is broken.
 */
export function written(
  target: Json | undefined,
  options: CaseOptions,
  promise: string
): WrittenTarget | undefined {
  if (target === undefined) return undefined
  const { effects = {}, people = {}, context, bounds, neverBoth, next, ...invariants } = options
  if (next !== undefined || people.sign !== undefined || promise in invariants) return undefined
  const answered: Record<string, Json> = {}
  for (const [name, { answer, repeats }] of Object.entries(effects)) {
    if (answer === 'own' || (typeof answer === 'function' && !('~standard' in answer))) {
      return undefined
    }
    // The case has the answers.
    answered[name] = { answer: {}, ...(repeats === undefined ? {} : { repeats }) }
  }
  const kept = {
    ...(Object.keys(answered).length === 0 ? {} : { effects: answered }),
    ...(context === undefined ? {} : { context }),
    ...(bounds === undefined ? {} : { bounds }),
    ...(neverBoth === undefined ? {} : { neverBoth })
  }
  const text = JSON.stringify(target)
  if (text.length > LENGTH_MAX) return undefined
  return { target: text, options: JSON.stringify(kept) }
}

const DEPTH_MAX = 100

/** Whether JSON says all of it. */
function isPlain(value: unknown, depth = 0): value is Json {
  if (depth > DEPTH_MAX) return false
  if (typeof value !== 'object' || value === null) return isScalar(value)
  if (Array.isArray(value)) return value.every((one) => isPlain(one, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return false
  return Object.values(value).every((one) => one === undefined || isPlain(one, depth + 1))
}

function isScalar(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  return Number.isFinite(value)
}
