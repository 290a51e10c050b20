import { createPrivateKey, sign as cryptoSign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type IdentityId, limits } from '../../../../src/core/index.js'
import { verify } from '../../../../src/identity/index.js'
import {
  addCosignature,
  cosignatureMessage,
  encodeLogNote,
  encodeSignedNote,
  encodeVerifierKey,
  noteKeyId,
  noteOrigin,
  parseLogNote,
  parseSignedNote,
  parseVerifierKey,
  signLogNote,
  verifyCosignature,
  verifyLogNote
} from '../../../../src/ledger/log/index.js'

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/note.json', import.meta.url), 'utf8')
)
const { log, witness, others, otherKeys } = vectors
const logKey = parseVerifierKey(log.verifierKey)
const witnessKey = parseVerifierKey(witness.verifierKey)

/** What is said of each text that is refused. */
type Refused = Readonly<Record<string, readonly string[]>>

function expectRefused(read: (text: string) => unknown, code: string, refused: Refused): void {
  for (const [problem, texts] of Object.entries(refused)) {
    const said = expect.objectContaining({ code, context: { problem } })
    for (const wrong of texts) {
      expect(() => read(wrong), JSON.stringify(wrong.slice(0, 300))).toThrow(said)
    }
  }
}

function signer(seed: string): (message: Uint8Array) => Uint8Array {
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex')
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return (message) => cryptoSign(null, message, key)
}

describe('log notes', () => {
  it('are signed to the bytes of the vector', async () => {
    const { note, encoded, text, seed } = log
    expect(encodeLogNote(note)).toBe(text)
    expect(parseLogNote(text)).toEqual(note)
    const { publicKey } = logKey
    expect(await signLogNote({ note, publicKey, sign: signer(seed) })).toBe(encoded)
    expect(noteOrigin(Buffer.from(publicKey).toString('hex') as IdentityId)).toBe(note.origin)
  })

  it('verify with the pinned key, with and without cosignatures', () => {
    for (const encoded of [log.encoded, witness.encoded]) {
      const verdict = verifyLogNote({ encoded, key: logKey, verify })
      expect(verdict).toMatchObject({ ok: true, note: log.note })
    }
  })

  it('fail for another key, another origin, and a signature that does not fit', async () => {
    const { encoded, note } = log
    const check = (text: string, key = logKey) => verifyLogNote({ encoded: text, key, verify })
    const stranger = { ...logKey, publicKey: witnessKey.publicKey }
    expect(check(encoded, stranger)).toEqual({ ok: false, reason: 'not_signed_by_key' })
    expect(check(encoded, { ...logKey, name: 'other' })).toEqual({
      ok: false,
      reason: 'other_origin'
    })
    expect(check(encoded, { ...logKey, algorithm: 4 })).toEqual({
      ok: false,
      reason: 'unsupported_key'
    })
    expect(check(encoded.replace('\n8\n', '\n9\n'))).toEqual({ ok: false, reason: 'bad_signature' })
    const forged = await signLogNote({
      note,
      publicKey: logKey.publicKey,
      sign: signer(witness.seed)
    })
    expect(check(forged)).toEqual({ ok: false, reason: 'bad_signature' })
    const signature = forged.split('\n').at(-2)
    expect(check(`${encoded}${signature}\n`)).toEqual({ ok: false, reason: 'bad_signature' })
  })

  it('are read strictly', () => {
    const { text } = log
    const lines: string[] = text.split('\n')
    const replaced = (index: number, line: string) => lines.with(index, line).join('\n')
    expectRefused(parseLogNote, 'ledger.malformed_note', {
      'it does not have four lines': [
        '',
        text.slice(0, -1),
        `${text}more`,
        `${text}more\n`,
        `${text}\n`,
        lines.slice(0, 3).join('\n')
      ],
      'its origin has a space in it or is empty': [replaced(0, ''), replaced(0, 'two words')],
      'its size is not a count': ['08', '-1', '9007199254740993', '', '1e1', '1x', 'x'].map(
        (size) => replaced(1, size)
      ),
      'its root is not base64 of 32 bytes': [
        replaced(2, ''),
        replaced(2, 'AAAA'),
        replaced(2, `.${lines[2]}`),
        replaced(2, `${lines[2]}=`),
        replaced(2, (lines[2] ?? '').replace('g=', 'h='))
      ],
      'its fourth line is not "state-root <hex>"': [
        replaced(3, ''),
        replaced(3, 'state-root'),
        replaced(3, `${lines[3]} `),
        replaced(3, (lines[3] ?? '').toUpperCase()),
        replaced(3, (lines[3] ?? '').replace('state', 'other')),
        replaced(3, 'other-line x')
      ]
    })
    for (const size of ['0', '7', '10', '1234567890123456']) {
      expect(parseLogNote(replaced(1, size)).size).toBe(Number(size))
    }
  })

  it('are not written for an origin or size that could not be read', () => {
    expect(() => encodeLogNote({ ...log.note, origin: 'a b' })).toThrow(/origin/)
    expect(() => encodeLogNote({ ...log.note, size: 1.5 })).toThrow(/size/)
    expect(() => encodeLogNote({ ...log.note, size: -1 })).toThrow(/size/)
    expect(parseLogNote(encodeLogNote({ ...log.note, size: 0 })).size).toBe(0)
  })
})

describe('signed notes', () => {
  it('of other implementations are read, verified and written back', () => {
    for (const { key, encoded } of others) {
      const verifier = parseVerifierKey(key)
      const note = parseSignedNote(encoded)
      expect(encodeSignedNote(note)).toBe(encoded)
      const [line] = note.signatures
      if (line === undefined) throw new Error('no signature')
      expect([line.name, line.keyId]).toEqual([verifier.name, noteKeyId(verifier)])
      const message = Buffer.from(note.text)
      expect(verify(line.signature, message, verifier.publicKey)).toBe(true)
    }
  })

  it('are read strictly', () => {
    const { encoded, text } = log
    const line: string = encoded.slice(text.length + 1)
    const instead = (other: string) => encoded.replace(line, other)
    const padding = (length: number) => 'x'.repeat(length - encoded.length)
    expectRefused(parseSignedNote, 'ledger.malformed_note', {
      'it has no text or no empty line before its signatures': ['', '\n\n', text, `\n\n${line}`],
      'it has no signatures, or its last line is not ended': [
        `${text}\n`,
        encoded.slice(0, -1),
        `${encoded}\n`
      ],
      'a signature line is not "\u2014 name base64"': [
        encoded.replace('\u2014', '-'),
        encoded.replace('\u2014 ', '\u2014'),
        instead(line.replace('\u2014 ', '\u2014  ')),
        instead(line.replace('\n', ' \n')),
        instead('\u2014\n'),
        instead('\u2014 na+me AAAAAAAA\n')
      ],
      'a signature is not base64 of a key id and more': [
        instead(line.replace('=\n', '\n')),
        instead('\u2014 name\n'),
        instead('\u2014 name AAAAAA==\n'),
        instead('\u2014 name AAAAAAB=\n')
      ],
      'it has a control character or a lone surrogate': [
        encoded.replaceAll('\n', '\r\n'),
        `\t${encoded}`,
        `\ud800${encoded}`
      ],
      'it has too many signatures': [`${text}\n${line.repeat(101)}`],
      'it is too long': [`${padding(limits.NOTE_BYTES_MAX + 1)}${encoded}`]
    })
    expect(parseSignedNote(`${text}\n${line.repeat(100)}`).signatures).toHaveLength(100)
    const longest = `${padding(limits.NOTE_BYTES_MAX - 2)}${encoded}`
    expect(Buffer.byteLength(longest)).toBe(limits.NOTE_BYTES_MAX)
    expect(encodeSignedNote(parseSignedNote(longest))).toBe(longest)
  })
})

describe('cosignatures', () => {
  it('are added to the bytes of the vector and verify', () => {
    const { time, seed } = witness
    const signature = signer(seed)(cosignatureMessage(log.text, time))
    const options = { encoded: log.encoded, witness: witnessKey, time, signature }
    expect(addCosignature(options)).toBe(witness.encoded)
    const note = parseSignedNote(witness.encoded)
    expect(verifyCosignature({ note, witness: witnessKey, verify })).toEqual({ ok: true, time })
  })

  it('of one witness at several times say the first', () => {
    const { time, seed } = witness
    const times = [time + 5, time, time + 9]
    const encoded = times.reduce((before, at) => {
      const signature = signer(seed)(cosignatureMessage(log.text, at))
      return addCosignature({ encoded: before, witness: witnessKey, time: at, signature })
    }, log.encoded as string)
    const note = parseSignedNote(encoded)
    expect(verifyCosignature({ note, witness: witnessKey, verify })).toEqual({ ok: true, time })
  })

  it('fail for another time, note, key or type of key', () => {
    const { time, seed } = witness
    const signature = signer(seed)(cosignatureMessage(log.text, time))
    const check = (encoded: string, key = witnessKey) =>
      verifyCosignature({ note: parseSignedNote(encoded), witness: key, verify })
    const late = addCosignature({
      encoded: log.encoded,
      witness: witnessKey,
      time: time + 1,
      signature
    })
    expect(check(late)).toEqual({ ok: false, reason: 'bad_signature' })
    const altered = witness.encoded.replace('\n8\n', '\n9\n')
    expect(check(altered)).toEqual({ ok: false, reason: 'bad_signature' })
    expect(check(log.encoded)).toEqual({ ok: false, reason: 'not_signed_by_key' })
    const plain = { ...witnessKey, algorithm: 1 }
    expect(check(witness.encoded, plain)).toEqual({ ok: false, reason: 'unsupported_key' })
    const lattice = { ...witnessKey, algorithm: 6, publicKey: new Uint8Array(1_312) }
    expect(check(witness.encoded, lattice)).toEqual({ ok: false, reason: 'unsupported_key' })
  })

  it('of a wrong length or without a time are bad', () => {
    const { text, signatures } = parseSignedNote(witness.encoded)
    const [, line] = signatures
    if (line === undefined) throw new Error('no cosignature')
    const whenever = () => true
    const endless = new Uint8Array(72).fill(0xff)
    const signed = Buffer.from(line.signature)
    const wrong = [signed.subarray(0, 71), Buffer.concat([signed, signed]), new Uint8Array(72)]
    for (const signature of [...wrong, endless]) {
      const note = { text, signatures: [{ ...line, signature }] }
      // What is wrong with it is seen before the signature is checked.
      for (const check of [verify, whenever]) {
        const options = { note, witness: witnessKey, verify: check }
        expect(verifyCosignature(options)).toEqual({ ok: false, reason: 'bad_signature' })
      }
    }
  })

  it('are not added with a time or signature that cannot be', () => {
    const options = { encoded: log.encoded, witness: witnessKey, time: 1, signature: Buffer.of(1) }
    expect(() => addCosignature(options)).toThrow(/64 bytes/)
    expect(() => addCosignature({ ...options, time: 0 })).toThrow(/time/)
  })
})

describe('verifier keys', () => {
  it('are read and written back, whatever their type', () => {
    const texts = [log.verifierKey, witness.verifierKey, ...otherKeys]
    for (const text of texts) expect(encodeVerifierKey(parseVerifierKey(text))).toBe(text)
    const lattice = { name: 'w', algorithm: 6, publicKey: new Uint8Array(1_312).fill(0xfb) }
    expect(parseVerifierKey(encodeVerifierKey(lattice))).toEqual(lattice)
  })

  it('are read strictly', () => {
    const text: string = log.verifierKey
    const short = { ...logKey, publicKey: logKey.publicKey.subarray(1) }
    const longest = { ...logKey, name: 'n'.repeat(limits.NOTE_NAME_LENGTH_MAX) }
    expectRefused(parseVerifierKey, 'ledger.malformed_verifier_key', {
      'its name is empty, too long or has a space in it': [
        '',
        text.slice(text.indexOf('+')),
        text.replace('tallystick/', 'tally stick/'),
        encodeVerifierKey({ ...longest, name: `${longest.name}n` })
      ],
      'its key is not base64': ['name', 'name+00000000', 'name+00000000+', `${text}=`],
      'its key is not 32 bytes': [
        encodeVerifierKey(short),
        encodeVerifierKey({ ...short, algorithm: witnessKey.algorithm })
      ],
      'its key id does not belong to its name and key': [
        `x${text}`,
        text.replace(/\+[0-9a-f]{8}\+/, '+00000000+')
      ]
    })
    expect(() => parseVerifierKey(text.replace('+', '++'))).toThrow()
    expect(parseVerifierKey(encodeVerifierKey(longest))).toEqual(longest)
  })
})
