import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalize, type JsonObject, sha256Hex } from '../../src/core/index.js'
import { getPublicKey, sign } from '../../src/identity/index.js'
import { unwrapText, wrapValue } from '../../src/ledger/envelope.js'
import type { Store } from '../../src/ledger/index.js'
import { inStore, type TamperPlace } from './tamper-place.js'
import { derivedKeys, forged, honest, tamperings } from './tamper-table.js'

/** One way to alter the ledger at a location, whatever is mended beside it. */
export interface TamperRow {
  readonly name: string
  alter(location: string, place: TamperPlace): Promise<void>
}

const otherSeed = new Uint8Array(32).fill(9)

/** Commits that were left out, exchanged or signed, and directories that were put back. */
export const rows: readonly TamperRow[] = [
  ...tamperings.map(({ name, alter }) => ({
    name,
    alter: (location: string) => inStore(location, alter)
  })),
  journalOf('ended', 'the input of the run that has ended', (line) =>
    line.includes('"k":"run.started"') ? line.replaceAll(honest.asked, forged.asked) : line
  ),
  journalOf('ended', 'the result of the run that has ended', (line) =>
    line.includes('"k":"run.finished"') ? line.replaceAll(honest.result, forged.result) : line
  ),
  journalOf('ended', 'the status of the run that has ended', (line) => {
    if (!line.includes('"k":"run.finished"')) return line
    const failure = { data: null, details: {}, errorType: null, metadata: {} }
    const response = { ...failure, reason: forged.result, success: false }
    const entry = JSON.parse(line.slice(1)) as JsonObject
    return `J${canonicalize({ ...entry, response, status: 'failed' })}`
  }),
  journalOf('ended', 'what was asked before the run ended', (line) =>
    line.includes('"k":"wait"') || line.includes('"k":"run.waiting"')
      ? line.replaceAll(honest.asked, forged.asked)
      : line
  ),
  journalOf('ended', 'the signature of an answer, hashed anew', (line) => {
    if (!line.includes('"effect":"wait"')) return line
    const entry = JSON.parse(line.slice(1)) as JsonObject
    const text = canonicalize(entry['body'] ?? null)
    const body = text.replace(/"signature":"./, (begun) =>
      begun.endsWith('0') ? begun.replace(/0$/, '1') : begun.replace(/.$/, '0')
    )
    const salted = canonicalize({ body: JSON.parse(body), salt: entry['salt'] ?? null })
    const responseHash = sha256Hex(salted)
    return `J${canonicalize({ ...entry, body: JSON.parse(body), responseHash })}`
  }),
  records('the changes beside receipts', (lines) =>
    lines.map((line) => (line.startsWith('W') ? line.replaceAll(honest.asked, forged.asked) : line))
  ),
  records('the result, hashed anew', (lines) => rehashed(lines)),
  records('the result, signed with another key', (lines) => rehashed(lines, otherSeed)),
  {
    name: 'the result, signed with the own key',
    alter: async (location) => {
      const seed = await ownSeed(location)
      await records('', (lines) => rehashed(lines, seed)).alter(location)
    }
  },
  commits('a commit in the middle dropped', (texts) => texts.toSpliced(3, 1)),
  commits('two commits swapped', (texts) => {
    const [one = '', two = ''] = texts.slice(3)
    return texts.toSpliced(3, 2, two, one)
  }),
  {
    name: 'a receipt of another ledger in place of one',
    alter: async (location, place) => {
      let foreign: readonly string[] = []
      await inStore(place.path('foreign'), async (store, identity) => {
        foreign = (await commitsOf(store, identity)).flatMap((text) => receiptLines(text))
      })
      await records('', (lines) => {
        const at = lines.findIndex((line) => line.startsWith('R'))
        return at < 0 ? lines : lines.with(at, foreign[0] ?? '')
      }).alter(location)
    }
  },
  commits('the last commit dropped', (texts) => texts.slice(0, -1)),
  {
    name: 'the data of an earlier time, under the lock of now',
    alter: (location, place) => place.replace(location, 'data-1', 'earlier')
  },
  {
    name: 'the data of an earlier time, without a lock',
    alter: async (location, place) => {
      await place.replace(location, 'data-1', 'earlier')
      await rm(join(location, 'integrity'), { recursive: true })
    }
  },
  {
    name: 'the data and the lock of an earlier time',
    alter: async (location, place) => {
      for (const name of ['data-1', 'integrity']) await place.replace(location, name, 'earlier')
    }
  },
  {
    name: 'a history made again with the own key, under the lock of the first',
    alter: (location, place) => place.replace(location, 'data-1', 'again')
  },
  {
    name: 'a history made again with the own key, with its lock',
    alter: async (location, place) => {
      for (const name of ['data-1', 'integrity']) await place.replace(location, name, 'again')
    }
  },
  parkedAgain('the journal of the run that waits, as the own key would write it', 'JM'),
  parkedAgain('the journal of the run that waits, in order but for its code', 'J'),
  {
    name: 'derived records that are older than their stamp',
    alter: async (location, place) => {
      const older = new Map<string, Uint8Array>()
      await inStore(place.path('earlier'), async (store, identity) => {
        for await (const [key, value] of store.entries(allOf(identity))) {
          if (/\/(run|chain|tile|page|index)\//.test(key)) older.set(key, value)
        }
      })
      await inStore(location, async (store) => {
        for (const [key, value] of older)
          await store.commit([{ puts: [[key, value]], deletes: [] }])
      })
    }
  },
  {
    name: 'a state value, with its page',
    alter: (location) =>
      inStore(location, async (store, identity) => {
        for await (const [key, value] of store.entries(allOf(identity))) {
          if (key.includes('/page/')) await store.commit([{ puts: [], deletes: [key] }])
          if (!key.includes('/state/paid/')) continue
          const text = unwrapText(key, value).replace(honest.asked, 'nothing')
          await store.commit([{ puts: [[key, wrapValue(key, text)]], deletes: [] }])
        }
      })
  },
  {
    name: 'the integrity lock',
    alter: async (location) => {
      const directory = join(location, 'integrity')
      const [name = ''] = await readdir(directory)
      const text = await readFile(join(directory, name), 'utf8')
      await writeFile(join(directory, name), text.replace(/"receipts":\d+/, '"receipts":1'))
    }
  }
]

const allOf = (identity: string) => ({ gte: `${identity}/`, lt: `${identity}0` })

/** Entries of `parked` from the other history; their codes can only come from the key. */
function parkedAgain(name: string, letters: string): TamperRow {
  return {
    name,
    alter: async (location, place) => {
      const lines: string[] = []
      await inStore(place.path('again'), async (store, identity) => {
        for (const text of await commitsOf(store, identity)) lines.push(...parkedLines(text))
      })
      await records('', (texts) => {
        let isMeant = false
        return texts.map((line) => {
          if (line.startsWith('I')) isMeant = line.includes('parked')
          if (!isMeant || !/^[JM]/.test(line)) return line
          const other = lines.shift() ?? line
          return letters.includes(line.charAt(0)) ? other : line
        })
      }).alter(location)
      await withoutDerived(location)
    }
  }
}

/** Journal lines of one run, whose derived records are gone: they are made again from these. */
function journalOf(run: string, name: string, change: (line: string) => string): TamperRow {
  return {
    name: `${name}, with its derived records gone`,
    alter: async (location) => {
      await records('', (lines) => {
        let isMeant = false
        return lines.map((line) => {
          if (line.startsWith('I')) isMeant = line.includes(run)
          return isMeant && line.startsWith('J') ? change(line) : line
        })
      }).alter(location)
      await withoutDerived(location)
    }
  }
}

function withoutDerived(location: string): Promise<void> {
  return inStore(location, async (store, identity) => {
    for await (const [key] of store.entries(allOf(identity))) {
      if (derivedKeys.test(key)) await store.commit([{ puts: [], deletes: [key] }])
    }
  })
}

function parkedLines(text: string): readonly string[] {
  let isMeant = false
  return text.split('\n').filter((line) => {
    if (line.startsWith('I')) isMeant = line.includes('parked')
    return isMeant && /^[JM]/.test(line)
  })
}

/** Changes the lines of the commits, one commit after the other. */
function records(
  name: string,
  change: (lines: readonly string[]) => readonly string[]
): TamperRow & { alter(location: string): Promise<void> } {
  return {
    name,
    alter: (location: string) =>
      inStore(location, async (store, identity) => {
        for await (const [key, value] of store.entries(allOf(identity))) {
          if (!key.includes('/commit/')) continue
          const lines = unwrapText(key, value).split('\n')
          const changed = wrapValue(key, change(lines).join('\n'))
          await store.commit([{ puts: [[key, changed]], deletes: [] }])
        }
      })
  }
}

/** Changes which commits there are, under numbers without gaps. */
function commits(name: string, change: (texts: readonly string[]) => readonly string[]): TamperRow {
  return {
    name,
    alter: (location) =>
      inStore(location, async (store, identity) => {
        const before = await commitsOf(store, identity)
        const keyOf = (seq: number) => `${identity}/commit/${seq.toString(16).padStart(12, '0')}`
        const after = change(before)
        for (const [seq] of before.entries()) {
          const key = keyOf(seq)
          const text = after[seq]
          const puts = text === undefined ? [] : [[key, wrapValue(key, text)] as const]
          await store.commit([{ puts, deletes: text === undefined ? [key] : [] }])
        }
      })
  }
}

async function commitsOf(store: Store, identity: string): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const [key, value] of store.entries(allOf(identity))) {
    if (key.includes('/commit/')) texts.push(unwrapText(key, value))
  }
  return texts
}

function receiptLines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.startsWith('R'))
}

/** Another result of the run `ended`, with everything in its receipt that follows from it. */
function rehashed(lines: readonly string[], seed?: Uint8Array): readonly string[] {
  let isMeant = false
  const changed = lines.map((line) => {
    if (line.startsWith('I')) isMeant = line.includes('ended')
    return isMeant ? line.replaceAll(honest.result, 'paid 99.99') : line
  })
  return changed.map((line, at) => {
    const result = changed[at + 2]
    if (line === lines[at] && changed[at + 2] === lines[at + 2]) return line
    if (!line.startsWith('R') || result === undefined) return line
    return `R${signed(JSON.parse(line.slice(1)) as JsonObject, result.slice(1), seed)}`
  })
}

function signed(receipt: JsonObject, result: string, seed: Uint8Array | undefined): string {
  const { receiptHash: _, signature, publicKey, ...rest } = receipt
  const key = seed === undefined ? publicKey : getPublicKey(seed)
  const body = { ...rest, publicKey: key, resultHash: sha256Hex(result) } as JsonObject
  const receiptHash = sha256Hex(canonicalize(body))
  const again = seed && Buffer.from(sign(Buffer.from(receiptHash, 'hex'), seed)).toString('hex')
  return canonicalize({ ...body, receiptHash, signature: again ?? signature ?? null })
}

/** Of a key file in plain text: the seed stands before the blob key. */
async function ownSeed(location: string): Promise<Uint8Array> {
  const [name = ''] = await readdir(join(location, 'keys'))
  const { secret } = JSON.parse(await readFile(join(location, 'keys', name), 'utf8')) as {
    readonly secret: string
  }
  return Buffer.from(secret.slice(0, 64), 'hex')
}
