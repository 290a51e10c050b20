/**
 * Snapshot files that cost a reader as much as their bytes allow. Each maker fills about the number
 * of bytes that it is given, on the model of an honest one. Used by the property test and by
 * `bench/documents.ts`.
 */
import { createHash } from 'node:crypto'

/** A snapshot's lines, header and footer included. */
type Lines = readonly string[]

export interface HostileSnapshot {
  /** What is too many, too deep or too long in it. */
  readonly name: string
  make(honest: Lines, bytes: number): string
}

type Kind = 'commits' | 'stateEntries' | 'blobs' | 'openRuns'

/** Lines under an honest header that declares them, with a footer that has their hash. */
function filled(honest: Lines, kind: Kind, body: Lines): string {
  const [header = '{}'] = honest
  const none = { commits: 0, stateEntries: 0, blobs: 0, openRuns: 0 }
  const declared = JSON.stringify({
    ...(JSON.parse(header) as object),
    counts: { ...none, [kind]: body.length },
    bytes: body.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0),
    longestLine: body.reduce((longest, line) => Math.max(longest, Buffer.byteLength(line)), 0)
  })
  const text = `${[declared, ...body].join('\n')}\n`
  const footer = JSON.parse(honest.at(-1) ?? '{}') as object
  const sha256 = createHash('sha256').update(text).digest('hex')
  return `${text}${JSON.stringify({ ...footer, sha256 })}\n`
}

function lines(bytes: number, line: (index: number) => string): Lines {
  const made: string[] = []
  for (let used = 0; used < bytes; used += (made.at(-1) ?? '').length + 1) {
    made.push(line(made.length))
  }
  return made
}

const entry = (key: string, state: string) => JSON.stringify({ key, state })
const ordered = (index: number) => `k${String(index).padStart(8, '0')}`

const makers: Readonly<Record<string, HostileSnapshot['make']>> = {
  'tiny entries': (honest, bytes) =>
    filled(
      honest,
      'stateEntries',
      lines(bytes, (index) => entry(ordered(index), '0'))
    ),
  'the same entry again and again': (honest, bytes) =>
    filled(
      honest,
      'stateEntries',
      lines(bytes, () => entry('k', '0'))
    ),
  'the same record again and again': (honest, bytes) =>
    filled(
      honest,
      'commits',
      lines(bytes, () => honest.find((line) => line.startsWith('{"commit"')) ?? '')
    ),
  'records that are none': (honest, bytes) =>
    filled(
      honest,
      'commits',
      lines(bytes, () => '{"commit":""}')
    ),
  'tiny bodies': (honest, bytes) =>
    filled(
      honest,
      'blobs',
      lines(bytes, (index) => JSON.stringify({ blob: String(index) }))
    ),
  'open runs that are not there': (honest, bytes) =>
    filled(
      honest,
      'openRuns',
      lines(bytes, (index) => JSON.stringify({ open: ordered(index), status: 'waiting' }))
    ),
  'one deep value': (honest, bytes) =>
    filled(honest, 'stateEntries', [entry('k', '['.repeat(bytes / 2) + ']'.repeat(bytes / 2))]),
  'one wide value': (honest, bytes) =>
    filled(honest, 'stateEntries', [entry('k', `[${'0,'.repeat(bytes / 2)}0]`)]),
  'a long line that is no JSON': (honest, bytes) =>
    filled(honest, 'stateEntries', ['{"key":'.repeat(bytes / 7)]),
  'a header of many keys': (honest, bytes) => {
    const header = JSON.parse(honest[0] ?? '{}') as { readonly publicKeys: readonly string[] }
    const publicKeys = lines(bytes, () => header.publicKeys[0] ?? '')
    return `${JSON.stringify({ ...header, publicKeys })}\n${honest.slice(1).join('\n')}\n`
  },
  'more than the header declares': (honest, bytes) =>
    `${honest.join('\n')}\n${lines(bytes, () => entry('k', '0')).join('\n')}\n`
}

export const hostileSnapshots: readonly HostileSnapshot[] = Object.entries(makers).map(
  ([name, make]) => ({ name, make })
)
