import { createHash, createPrivateKey, sign } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalize, type Json } from '../../src/core/index.js'
import { exported, oneOfEach } from '../support/generated-ledgers.js'
import { testKeys } from '../support/lives.js'
import { type PythonReport, verifiedByPython } from '../support/python-verifier.js'
import { type LooseRecord, TamperedSnapshot } from '../support/tampered-snapshot.js'

/**
 * The second implementation catches every change of a snapshot whose sizes, counts and footer are
 * in order again, or says that it has not checked what was changed. What no verification can catch
 * alone is caught with a note from outside.
 */

let folder = ''
let honest = ''
let foreign = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-python-'))
  honest = await ledger('honest', oneOfEach.length)
  foreign = await ledger('foreign', 2, undefined)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the verifier in Python', () => {
  it('finds every change of a record, a body, a state value or the list of runs', async () => {
    const found = await reportsOf(changes)
    expect([...found].filter(([, { ok }]) => ok).map(([name]) => name)).toEqual([])
    expect(new Map([...found].map(([name, { failure }]) => [name, failure?.field]))).toEqual(
      new Map(Object.entries(changes).map(([name, { field }]) => [name, field]))
    )
  })

  it('names as not checked what needs the blob key', async () => {
    const found = await reportsOf(unseen)
    for (const [name, { ok, notChecked }] of found) {
      expect(ok, name).toBe(true)
      expect(Object.keys(notChecked), name).toContain(unseen[name]?.notChecked)
    }
  })

  it('finds a tail that was cut, and a history made anew with the own key, by a note', async () => {
    const note = await noteFile('later', new TamperedSnapshot(honest).note)
    const files = [join(folder, 'shorter'), join(folder, 'otherwise')]
    await ledger('shorter', 3)
    await exported(oneOfEach.slice(1).concat(oneOfEach), files[1] ?? '', testKeys)
    expect(verifiedByPython(files).code).toBe(0)
    const { code, reports } = verifiedByPython(files, ['--note', note])
    expect(code).toBe(1)
    expect(reports.map(({ failure }) => failure?.field.split(' ')[0])).toEqual(['size', 'root'])
  })

  it('ends with 3 when a note fits nothing, and with 0 when it fits', async () => {
    const file = join(folder, 'honest')
    const fitting = await noteFile('own', new TamperedSnapshot(honest).note)
    const strange = await noteFile('strange', new TamperedSnapshot(foreign).note)
    const noNote = await noteFile('none', 'no note')
    expect(verifiedByPython([file], ['--note', fitting]).code).toBe(0)
    expect(verifiedByPython([file], ['--note', strange]).code).toBe(3)
    expect(verifiedByPython([file], ['--note', fitting, '--note', noNote]).code).toBe(3)
  })

  it('refuses a whole ledger of another identity when one is pinned', () => {
    const files = [join(folder, 'honest'), join(folder, 'foreign')]
    const { code, reports } = verifiedByPython(files, ['--identity', testKeys.identity])
    expect(code).toBe(1)
    expect(reports.map(({ ok }) => ok)).toEqual([true, false])
    expect(reports[1]?.failure?.field).toBe('identity')
  })
})

interface Tampering {
  readonly change: (snapshot: TamperedSnapshot) => void
}

/** What is caught, and by which field. */
const changes: Readonly<Record<string, Tampering & { readonly field: string }>> = {
  'result text': {
    change: (s) => edit(s, 'O', 0, (result) => set(result, 'sum', 7)),
    field: 'resultHash'
  },
  'payload of a receipt': {
    change: (s) => edit(s, 'R', 0, (receipt) => set(receipt['inputPayload'], 'payload', 'x')),
    field: 'receiptHash'
  },
  'result re-hashed': { change: (s) => rehashed(s), field: 'signature' },
  'result re-hashed and signed with another key': {
    change: (s) => rehashed(s, Buffer.alloc(32, 9)),
    field: 'publicKey'
  },
  'result re-hashed and signed with the own key': {
    change: (s) => rehashed(s, Buffer.alloc(32, 7)),
    field: 'previousReceiptHash'
  },
  'middle commit dropped': { change: (s) => drop(s, 3), field: 'commit seq' },
  'commit dropped and the others renumbered': {
    change: (s) => {
      drop(s, 0)
      renumber(s)
    },
    field: 'commit leaves'
  },
  'tail cut': {
    change: (s) => drop(s, s.lines.filter(({ commit }) => commit !== undefined).length - 1),
    field: 'open runs'
  },
  'two commits swapped': {
    change: (s) => {
      const [first, second] = [s.lines[1], s.lines[2]]
      if (first !== undefined && second !== undefined) s.lines.splice(1, 2, second, first)
    },
    field: 'commit seq'
  },
  'foreign receipt': {
    change: (s) => {
      const other = new TamperedSnapshot(foreign).recordLines('R')[0]
      if (other !== undefined) edit(s, 'R', 0, () => JSON.parse(other.text.slice(1)))
    },
    field: 'identity'
  },
  'write set': {
    change: (s) => edit(s, 'W', 0, (writes) => set(writes[0], 'after', 5)),
    field: 'nextStateRoot'
  },
  evidence: {
    change: (s) => edit(s, 'E', 0, (evidence) => set(evidence, 'code', 'luck')),
    field: 'evidenceHash'
  },
  'body in a record': {
    change: (s) => edit(s, 'B', 0, (body) => set(body, 'body', 'z')),
    field: 'blob that no record names'
  },
  'body of its own': {
    change: (s) => {
      for (const line of s.lines)
        if (line.blob !== undefined) line.blob = line.blob.replace('yy', 'yz')
    },
    field: 'blob that no record names'
  },
  'state value': {
    change: (s) => state(s, (line) => set(line, 'state', '9')),
    field: 'state entry a'
  },
  'state value deleted': {
    change: (s) =>
      void s.lines.splice(
        s.lines.findIndex(({ key }) => key !== undefined),
        1
      ),
    field: 'state entries'
  },
  'state value invented': {
    change: (s) =>
      void s.lines.splice(
        s.lines.findIndex(({ key }) => key !== undefined),
        0,
        { key: '0', state: '1' }
      ),
    field: 'state entry 0'
  },
  'journal of a run that has ended': {
    change: (s) =>
      entry(s, 'run.started', (started) => set(started, 'principal', { id: 'x', kind: 'owner' })),
    field: 'principal'
  },
  'answer in a journal': {
    change: (s) => entry(s, 'sealed', (sealed) => set(sealed, 'body', 1)),
    field: 'responseHash'
  },
  'what a journal says was sent': {
    change: (s) => entry(s, 'settled', (settled) => set(settled, 'sent', 'yes')),
    field: 'journalHash'
  },
  'what a wait shows': {
    change: (s) => entry(s, 'wait', (wait) => set(wait, 'token', '0'.repeat(32))),
    field: 'token'
  },
  'wait that a parked run shows': {
    change: (s) => lastEntry(s, 'run.waiting', (parked) => set(parked.waits[0], 'request', 'sign')),
    field: 'request of a wait that is shown'
  },
  'definition of an open run': {
    change: (s) => lastEntry(s, 'run.started', (started) => set(started.definition, 'maxSteps', 9)),
    field: 'definitionHash'
  },
  'list of open runs': {
    change: (s) =>
      void s.lines.splice(
        s.lines.findIndex(({ open }) => open !== undefined),
        1
      ),
    field: 'open runs'
  },
  'head root': {
    change: (s) => set(s.header.head, 'headRoot', '0'.repeat(64)),
    field: 'head headRoot'
  },
  'log root': {
    change: (s) => set(s.header.head, 'logRoot', '0'.repeat(64)),
    field: 'head logRoot'
  },
  'keys of the header': {
    change: (s) => void s.header.publicKeys.push('0'.repeat(64)),
    field: 'publicKeys'
  },
  'note of another log': {
    change: (s) => {
      s.note = new TamperedSnapshot(foreign).note
    },
    field: 'note of the footer'
  }
}

/** What cannot be caught without the blob key, and what the report says of it. */
const unseen: Readonly<Record<string, Tampering & { readonly notChecked: string }>> = {
  'code over a journal': {
    change: (s) => edit(s, 'M', 0, () => '0'.repeat(64)),
    notChecked: 'codes over journals, and salts of private bodies (they need the blob key)'
  },
  'journal of an open run': {
    change: (s) => lastEntry(s, 'run.waiting', (parked) => set(parked, 'due', 5)),
    notChecked: 'journals of open runs (they need the blob key)'
  }
}

async function ledger(
  name: string,
  acts: number,
  keys: typeof testKeys | undefined = name === 'foreign' ? undefined : testKeys
): Promise<string> {
  const file = join(folder, name)
  await exported(oneOfEach.slice(0, acts), file, keys)
  return readFile(file, 'utf8')
}

async function noteFile(name: string, text: string | null): Promise<string> {
  const file = join(folder, `${name}.note`)
  await writeFile(file, text ?? '')
  return file
}

async function reportsOf(
  tamperings: Readonly<Record<string, Tampering>>
): Promise<ReadonlyMap<string, PythonReport>> {
  const names = Object.keys(tamperings)
  const files = names.map((_, index) => join(folder, `tampered-${index}`))
  for (const [index, name] of names.entries()) {
    const snapshot = new TamperedSnapshot(honest)
    tamperings[name]?.change(snapshot)
    const text = snapshot.encoded()
    expect(text, name).not.toBe(honest)
    await writeFile(files[index] ?? '', text)
  }
  const { reports } = verifiedByPython(files)
  return new Map(names.map((name, index) => [name, reports[index] as PythonReport]))
}

// biome-ignore lint/suspicious/noExplicitAny: what is tampered with has any shape
type Loose = any

function set(record: Loose, name: string, value: Json): void {
  record[name] = value
}

/** Changes the value of the n-th line of a letter; a value that is given back takes its place. */
function edit(s: TamperedSnapshot, letter: string, n: number, to: (value: Loose) => Loose): void {
  const place = s.recordLines(letter)[n]
  if (place === undefined) throw new Error(`no line ${letter}`)
  s.change(place, (text) => {
    const value = JSON.parse(text.slice(1)) as Json
    return letter + canonicalize(to(value) ?? value)
  })
}

function entry(s: TamperedSnapshot, kind: string, to: (entry: LooseRecord & Loose) => void): void {
  edit(s, 'J', kindsOf(s).indexOf(kind), to)
}

function lastEntry(s: TamperedSnapshot, kind: string, to: (entry: Loose) => void): void {
  edit(s, 'J', kindsOf(s).lastIndexOf(kind), to)
}

function kindsOf(s: TamperedSnapshot): readonly unknown[] {
  return s.recordLines('J').map(({ text }) => (JSON.parse(text.slice(1)) as LooseRecord)['k'])
}

function state(s: TamperedSnapshot, to: (line: Loose) => void): void {
  to(s.lines.find(({ key }) => key !== undefined))
}

function drop(s: TamperedSnapshot, commit: number): void {
  s.lines.splice(commit, 1)
}

function renumber(s: TamperedSnapshot): void {
  const { length } = s.recordLines('C')
  for (let seq = 0; seq < length; seq++) edit(s, 'C', seq, (counts) => set(counts, 'seq', seq))
}

/** Changes a result, and everything in its receipt that follows from it. */
function rehashed(s: TamperedSnapshot, seed?: Buffer): void {
  edit(s, 'O', 0, (result) => set(result, 'sum', 7))
  const result = s.recordLines('O')[0]?.text.slice(1) ?? ''
  edit(s, 'R', 0, (receipt) => {
    set(receipt, 'resultHash', sha256(result))
    const key = seed === undefined ? undefined : signer(seed)
    if (key !== undefined) set(receipt, 'publicKey', key.publicKey)
    const { receiptHash, signature, ...rest } = receipt
    set(receipt, 'receiptHash', sha256(canonicalize(rest)))
    expect([receiptHash, signature]).not.toContain(undefined)
    if (key !== undefined) set(receipt, 'signature', key.sign(receipt.receiptHash))
  })
  // The journal beside it says the same.
  entry(s, 'settled', (settled) => set(settled.response.data, 'sum', 7))
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function signer(seed: Buffer): { publicKey: string; sign: (hash: string) => string } {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const der = Buffer.concat([prefix, seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x } = key.export({ format: 'jwk' })
  return {
    publicKey: Buffer.from(x ?? '', 'base64url').toString('hex'),
    sign: (hash) => sign(null, Buffer.from(hash, 'hex'), key).toString('hex')
  }
}
