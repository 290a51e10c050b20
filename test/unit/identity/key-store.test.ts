import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isTallyError, type Random } from '../../../src/core/index.js'
import {
  createKeyFile,
  generateIdentity,
  IdentityKeys,
  loadKeyFile,
  newKeyFor
} from '../../../src/identity/index.js'
import { committedVectors } from '../../support/vectors.js'

const directory = mkdtempSync(join(tmpdir(), 'tally-keys-'))
afterAll(() => rmSync(directory, { recursive: true }))

const counting: Random = {
  bytes: (length) => Uint8Array.from({ length }, (_, index) => index + length),
  uuid: () => 'a-uuid'
}
const keys = new IdentityKeys({
  seed: Buffer.from('c0ffee'.padEnd(64, '1'), 'hex'),
  blobKey: Buffer.from('badcab'.padEnd(64, '2'), 'hex')
})
const passphrase = 'correct horse battery staple \u00e9'
const sealed = join(directory, 'sealed.json')
const plain = join(directory, 'plain.json')

beforeAll(async () => {
  await createKeyFile({ path: sealed, keys, passphrase, random: counting })
  await createKeyFile({ path: plain, keys, insecurePlaintext: true })
})

function write(name: string, text: string, mode = 0o600): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error
  )
}

async function expectFailure(work: Promise<unknown>, code: string): Promise<void> {
  const error = await failure(work)
  expect(isTallyError(error)).toBe(true)
  expect(error).toMatchObject({ code })
  const shown = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error)
  for (const secret of [keys.seed, keys.blobKey]) {
    for (const encoding of ['hex', 'base64', 'base64url', 'latin1'] as const) {
      expect(shown, 'I7').not.toContain(Buffer.from(secret).toString(encoding))
    }
  }
  expect(shown, 'I7').not.toContain(passphrase)
}

describe('key files', () => {
  it('gives back what was kept, in both kinds', async () => {
    for (const path of [sealed, plain]) {
      const loaded = await loadKeyFile({ path, passphrase })
      expect(loaded.identity).toBe(keys.identity)
      expect(loaded.publicKey).toBe(keys.publicKey)
      expect(Buffer.from(loaded.seed)).toEqual(Buffer.from(keys.seed))
      expect(Buffer.from(loaded.blobKey)).toEqual(Buffer.from(keys.blobKey))
    }
  })

  it('takes the same passphrase in either Unicode form', async () => {
    const decomposed = passphrase.normalize('NFD')
    expect(decomposed).not.toBe(passphrase)
    const loaded = await loadKeyFile({ path: sealed, passphrase: decomposed })
    expect(loaded.publicKey).toBe(keys.publicKey)
  })

  it('keeps the identity of a key that came by rotation', async () => {
    const path = join(directory, 'rotated.json')
    const next = newKeyFor(keys)
    await createKeyFile({ path, keys: next, insecurePlaintext: true })
    const loaded = await loadKeyFile({ path })
    expect(loaded.identity).toBe(keys.identity)
    expect(loaded.publicKey).toBe(next.publicKey)
  })

  it('I6: is private when written, and refused when others could read it', async () => {
    expect(statSync(sealed).mode & 0o777).toBe(0o600)
    expect(statSync(plain).mode & 0o777).toBe(0o600)
    for (const mode of [0o640, 0o604, 0o620, 0o666, 0o777]) {
      const path = write(`mode-${mode}.json`, readFileSync(plain, 'utf8'), mode)
      await expectFailure(loadKeyFile({ path }), 'identity.key_file_permissions')
      const error = await failure(loadKeyFile({ path }))
      expect(isTallyError(error) && error.fix).toBe(`Run: chmod 600 ${path}`)
    }
    const readOnly = write('mode-400.json', readFileSync(plain, 'utf8'), 0o400)
    expect((await loadKeyFile({ path: readOnly })).publicKey).toBe(keys.publicKey)
  })

  it('I5: is never overwritten, and leaves no other file behind', async () => {
    const before = readFileSync(sealed)
    const again = createKeyFile({ path: sealed, keys: generateIdentity(), insecurePlaintext: true })
    await expectFailure(again, 'identity.key_file_exists')
    expect(readFileSync(sealed)).toEqual(before)
    const missing = join(directory, 'nowhere', 'key.json')
    expect(
      await failure(createKeyFile({ path: missing, keys, insecurePlaintext: true }))
    ).toMatchObject({ code: 'ENOENT' })
    expect(readdirSync(directory).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('holds no secret in the sealed kind, and says so in the plain kind', () => {
    const text = readFileSync(sealed, 'utf8')
    expect(text).not.toContain(Buffer.from(keys.seed).toString('hex'))
    expect(text).not.toContain(Buffer.from(keys.blobKey).toString('hex'))
    expect(JSON.parse(text)).toMatchObject({
      format: 'tally-key/1',
      protection: 'scrypt-131072-8-1+aes-256-gcm',
      identity: keys.identity,
      publicKey: keys.publicKey
    })
    expect(JSON.parse(readFileSync(plain, 'utf8'))).toMatchObject({
      protection: 'none',
      warning: 'this key is stored in plain text'
    })
  })

  it('matches the committed vector of the sealed format', () => {
    const made = () => [
      {
        passphrase,
        seed: Buffer.from(keys.seed).toString('hex'),
        blobKey: Buffer.from(keys.blobKey).toString('hex'),
        file: readFileSync(sealed, 'utf8')
      }
    ]
    expect(committedVectors('key-file.json', made)).toEqual(made())
  })

  it('names a missing or wrong passphrase', async () => {
    await expectFailure(loadKeyFile({ path: sealed }), 'identity.passphrase_missing')
    await expectFailure(
      loadKeyFile({ path: sealed, passphrase: '' }),
      'identity.passphrase_missing'
    )
    const error = await failure(loadKeyFile({ path: sealed }))
    expect(isTallyError(error) && error.fix).toContain('TALLY_PASSPHRASE')
    await expectFailure(
      loadKeyFile({ path: sealed, passphrase: `${passphrase} ` }),
      'identity.wrong_passphrase'
    )
    const path = join(directory, 'empty.json')
    await expectFailure(
      createKeyFile({ path, keys, passphrase: '' }),
      'identity.passphrase_missing'
    )
  })

  it('refuses an altered sealed file, whatever the field', async () => {
    const file = JSON.parse(readFileSync(sealed, 'utf8'))
    const other = generateIdentity()
    const changes = [
      { identity: other.identity },
      { publicKey: other.publicKey },
      { salt: '00'.repeat(32) },
      { nonce: '00'.repeat(12) },
      { box: file.box.replace(/^./, (digit: string) => (digit === '0' ? '1' : '0')) },
      { box: file.box.replace(/.$/, (digit: string) => (digit === '0' ? '1' : '0')) }
    ]
    for (const [index, change] of changes.entries()) {
      const path = write(`altered-${index}.json`, canonical({ ...file, ...change }))
      await expectFailure(loadKeyFile({ path, passphrase }), 'identity.wrong_passphrase')
    }
  })

  it('refuses files that it would not have written', async () => {
    const text = readFileSync(plain, 'utf8')
    const file = JSON.parse(text)
    const { warning, ...unmarked } = file
    expect(warning).toBeTypeOf('string')
    const texts = [
      '',
      'null',
      '[]',
      '{}',
      text.trimEnd(),
      `${text}\n`,
      JSON.stringify(file, null, 2),
      canonical({ ...file, extra: 1 }),
      canonical(unmarked),
      canonical({ ...file, format: 'tally-key/2' }),
      canonical({ ...file, protection: 'rot13' }),
      canonical({ ...file, secret: file.secret.slice(2) }),
      canonical({ ...file, secret: file.secret.toUpperCase() }),
      canonical({ ...file, publicKey: generateIdentity().publicKey }),
      canonical({ ...file, identity: 'default' }),
      text + ' '.repeat(5_000)
    ]
    for (const [index, malformed] of texts.entries()) {
      const path = write(`malformed-${index}.json`, malformed)
      await expectFailure(loadKeyFile({ path, passphrase }), 'identity.malformed_key_file')
    }
    mkdirSync(join(directory, 'folder'), { mode: 0o700 })
    await expectFailure(
      loadKeyFile({ path: join(directory, 'folder') }),
      'identity.malformed_key_file'
    )
    await expectFailure(
      loadKeyFile({ path: join(directory, 'absent.json') }),
      'identity.key_file_missing'
    )
  })

  it('I7: keys show their public part only', () => {
    const shown = inspect(keys, { depth: 10, showHidden: true }) + JSON.stringify(keys)
    expect(shown).toContain(keys.publicKey)
    expect(shown).not.toContain(Buffer.from(keys.seed).toString('hex'))
    expect(shown).not.toContain('c0, ')
    expect(JSON.parse(JSON.stringify(keys))).toEqual({
      identity: keys.identity,
      publicKey: keys.publicKey
    })
  })
})

function canonical(file: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(file, Object.keys(file).sort())}\n`
}
