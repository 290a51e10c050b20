import { createRequire } from 'node:module'
import type { z } from 'zod'
import { once } from '../once.js'

/**
 * The seam to zod. Loading it was a quarter of the processor time of opening a ledger, and most
 * processes that open one check no shape: it is loaded with the first schema that is asked for.
 *
 * Owns: which copy of the library the rooms on the way to an open ledger make schemas with.
 */

type Library = typeof z

const require = createRequire(import.meta.url)
let library: Library | undefined
let hasProgramLoadedIt = false

/**
 * Takes the copy that the program has loaded, if its blocks have schemas, so that the process
 * holds one copy. For what may make schemas next; without it the first one loads another copy.
 */
export async function shareSchemas(): Promise<void> {
  if (library === undefined && hasProgramLoadedIt) library = (await import('zod')).z
}

/** A schema that is made when it is first asked for, and once. */
export function lazySchema<Made>(make: (library: Library) => Made): () => Made {
  return once(() => make(loadedLibrary()))
}

/**
 * The JSON Schema of what a schema takes, as it stands in the hashes of blocks. A schema of the
 * version of this program writes itself, with the copy that made it.
 */
export function inputJsonSchema(schema: z.ZodType): unknown {
  const options = { unrepresentable: 'any', io: 'input' } as const
  if (library === undefined && isOfOurVersion(schema)) {
    hasProgramLoadedIt = true
    try {
      return schema.toJSONSchema(options)
    } catch {
      // It holds a part that cannot write itself, such as one of zod's smaller interface.
    }
  }
  return loadedLibrary().toJSONSchema(schema, options)
}

function isOfOurVersion({ _zod: internals, toJSONSchema }: z.ZodType): boolean {
  const { major, minor, patch } = internals.version
  const { version } = require('zod/package.json') as { readonly version: string }
  return typeof toJSONSchema === 'function' && version === `${major}.${minor}.${patch}`
}

function loadedLibrary(): Library {
  library ??= (require('zod') as typeof import('zod')).z
  return library
}
