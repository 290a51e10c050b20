import { readdirSync, readFileSync } from 'node:fs'
import { isJsonObject, type Json } from '../../src/core/index.js'
import { aisJsonSchemas } from '../../src/workflow/document/json-schema.js'

/** Folders whose code gives fields a meaning; those of the schemas only name them. */
const readers = ['plan', 'policy', 'engine', 'lint', 'value', 'readiness']
const documents = ['check-protocol', 'bundle', 'flow', 'pack', 'protocol']
const beyond = [
  'executor/evm/coding.ts',
  'cli/frame/workflow.ts',
  'code/obligation.ts',
  'executor/evm/abi-types.ts'
]

/** What reads them is given the object that they are in: the coder of ABIs, identity. */
const passedOn: ReadonlySet<string> = new Set(['event.anonymous', 'approvers.threshold'])

/**
 * Fields of AIS's documents as `owner.name`, the owner being the member or execution type they are
 * in, and whether some code takes a member of that name out of an object.
 */
export function fieldsOfSchemas(): {
  readonly fields: readonly string[]
  readonly isRead: (field: string) => boolean
} {
  const schemas = aisJsonSchemas()
  const found = new Set<string>()
  for (const [kind, file] of [
    ['flow', 'ais-flow-0.0.3.json'],
    ['protocol', 'ais-0.0.2.json'],
    ['pack', 'ais-pack-0.0.2.json']
  ] as const) {
    collect(schemas[file] as Json, kind, found)
  }
  const fields = [...found].filter((field) => !field.endsWith('.extensions')).sort()
  const code = sources()
  // A name that stands alone: `retry.interval_ms`, `{ interval_ms }`, `calls.map(({ id, to }) =>`.
  const isRead = (field: string) => {
    if (passedOn.has(field)) return true
    const name = field.split('.')[1] ?? field
    return new RegExp(`(\\.|[{,]\\s*|\\['?|')${name}\\b`).test(code)
  }
  return { fields, isRead }
}

function sources(): string {
  const root = new URL('../../src/workflow/', import.meta.url)
  const files = readers.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root)).map((name) => `${folder}/${name}`)
  )
  const named = documents.map((name) => `document/${name}.ts`)
  const outside = beyond.map((file) => `../${file}`)
  const texts = [...files, ...named, ...outside].map((file) =>
    readFileSync(new URL(file, root), 'utf8')
  )
  // Schemas name every field.
  return texts
    .map((text) => text.replaceAll(/^ *[a-z_]+: (z|aisObject|label|chain|bounds).*$/gm, ''))
    .join('\n')
}

function collect(root: Json, kind: string, found: Set<string>): void {
  const definitions = isJsonObject(root) ? root['$defs'] : undefined
  const seen = new Set<string>()
  const walk = (schema: Json | undefined, owner: string): void => {
    if (!isJsonObject(schema ?? null)) return
    const { $ref: reference, properties = {}, ...rest } = schema as { [name: string]: Json }
    if (typeof reference === 'string') {
      if (reference === '#/$defs/value' || seen.has(owner + reference)) return
      seen.add(owner + reference)
      const name = reference.split('/').at(-1) ?? ''
      walk(
        isJsonObject(definitions ?? null) ? (definitions as { [n: string]: Json })[name] : {},
        owner
      )
      return
    }
    if (isJsonObject(properties)) {
      const type = properties['type']
      const named = isJsonObject(type ?? null)
        ? (type as { [n: string]: Json })['const']
        : undefined
      const here = typeof named === 'string' ? named : owner
      for (const [name, below] of Object.entries(properties)) {
        found.add(`${here}.${name}`)
        walk(below, name)
      }
    }
    for (const key of ['items', 'additionalProperties']) walk(rest[key], owner)
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const alternatives = rest[key]
      for (const one of Array.isArray(alternatives) ? alternatives : []) walk(one, owner)
    }
  }
  walk(root, kind)
}
