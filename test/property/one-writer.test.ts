import { cpSync, existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type IdentityId, isTallyError, limits, sha256Hex } from '../../src/core/index.js'
import { defineBlock } from '../../src/index.js'
import { unwrapText } from '../../src/ledger/envelope.js'
import { type HeldStore, holdStore } from '../../src/ledger/owner/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { appendLink, type ChainHead, emptyChain, readChain } from './crash-store/chain.js'
import { startWriter } from './crash-store/process.js'

const identity = 'e'.repeat(64) as IdentityId
const create = { create: { identities: [identity] } }
let directory: string
let path: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-one-'))
  path = join(directory, 'ledger')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const code = (value: string) => expect.objectContaining({ code: value })

/** A copy made in the owner's process: closing a descriptor of LOCK gives LevelDB's lock away. */
function loseLock(): void {
  cpSync(path, `${path}.copy`, { recursive: true })
  rmSync(`${path}.copy`, { recursive: true })
}

async function append(store: HeldStore['store'], head: ChainHead): Promise<ChainHead> {
  const { item, next } = appendLink(store, head)
  await store.commit([item])
  return next
}

/** What a second process says when it tries to write. */
async function second(env?: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const lines: string[] = []
  await startWriter(
    'writer.ts',
    [path],
    (line, kill) => {
      lines.push(line)
      kill()
    },
    env
  )
  return lines
}

describe('one writer', () => {
  it('L13: a second process is refused while nothing is served and the lock is lost', async () => {
    const held = await holdStore(path, create)
    let head = await append(held.store, emptyChain)
    loseLock()
    expect(await second()).toEqual(['ledger.locked'])
    head = await append(held.store, head)
    await held.close()
    const again = await holdStore(path)
    expect(await readChain(again.store)).toEqual(head)
    await again.close()
  })

  it('L13: a second process with another runtime directory finds the socket of the owner', async () => {
    const runtime = join(directory, 'runtime')
    await mkdir(runtime)
    const environment = {
      runtimeDirectory: runtime,
      temporaryDirectory: directory,
      userId: process.getuid?.() ?? 0
    }
    const held = await holdStore(path, { ...create, environment })
    await append(held.store, emptyChain)
    loseLock()
    const { XDG_RUNTIME_DIR: _, ...bare } = process.env
    expect(await second({ ...bare, TMPDIR: directory })).toEqual(['ledger.locked'])
    await held.close()
  })

  it('L13: two writers that see no common socket and no lock lose nothing acknowledged', async () => {
    const held = await holdStore(path, create)
    let head = await append(held.store, emptyChain)
    loseLock()
    // As across containers: the file of the socket is in a directory that the other does not see.
    await rm(held.socket.path)
    let refusal: unknown
    const taken = startWriter('writer.ts', [path], (line, kill) => {
      if (refusal !== undefined && Number(line) > head.length + 20) kill()
    })
    try {
      for (;;) head = await append(held.store, head)
    } catch (error) {
      refusal = error
    }
    await taken
    expect(isTallyError(refusal, 'ledger.fenced')).toBe(true)
    await expect(append(held.store, head)).rejects.toEqual(code('ledger.fenced'))
    await held.close()
    const again = await holdStore(path)
    expect((await readChain(again.store)).length).toBeGreaterThan(head.length + 20)
    const last = `link/${String(head.length - 1).padStart(8, '0')}`
    const text = unwrapText(last, again.store.get(last) ?? new Uint8Array())
    expect(sha256Hex(text)).toBe(head.hash)
    await again.close()
  })

  it('L13: an owner file that is replaced, changed or removed fences before the batch', async () => {
    const changes: readonly ((file: string) => Promise<void>)[] = [
      (file) => rm(file),
      (file) => writeFile(file, ''),
      async (file) => writeFile(file, `${await readFile(file, 'utf8')} `),
      async (file) =>
        writeFile(file, (await readFile(file, 'utf8')).replace(/.(?=","process)/, 'z'))
    ]
    for (const change of changes) {
      const held = await holdStore(path, create)
      const before = await readChain(held.store)
      await change(join(path, 'owner.json'))
      await expect(append(held.store, before)).rejects.toEqual(code('ledger.fenced'))
      await held.close()
      const again = await holdStore(path)
      expect(await readChain(again.store)).toEqual(before)
      await again.close()
    }
  })

  it('L13: no owner file of a dead owner or a stranger hinders an opening', async () => {
    await (await holdStore(path, create)).close()
    const file = join(path, 'owner.json')
    expect(existsSync(file)).toBe(false)
    let length = 0
    await startWriter('writer.ts', [path], (line, kill) => {
      length = Number(line)
      if (length >= 3) kill()
    })
    const stale = await readFile(file, 'utf8')
    expect(JSON.parse(stale)).toMatchObject({ format: 'tally-owner-file' })
    const strange = join(directory, 'strange')
    const same = stale.replace(/"process":\d+/, `"process":${process.pid}`)
    const left = [
      stale,
      same,
      '',
      '{',
      '[]',
      'x'.repeat(limits.OWNER_FILE_BYTES_MAX * 2),
      stale.replace(/"socket":"[^"]*"/, `"socket":"${strange}"`)
    ]
    for (const text of left) {
      await writeFile(file, text)
      const held = await holdStore(path)
      expect((await readChain(held.store)).length).toBeGreaterThanOrEqual(length)
      await held.close()
    }
    await writeFile(strange, 'untouched')
    await symlink(strange, file)
    await (await holdStore(path)).close()
    expect(await readFile(strange, 'utf8')).toBe('untouched')
  })

  it('L13: a runtime that serves nothing holds its ledger alone, and stops once it is fenced', async () => {
    const block = defineBlock({
      name: 'b',
      version: '1.0.0',
      sideEffects: 'none',
      run: (_, input) => input
    })
    const nodes = { n: { block: 'b' } }
    const document = {
      schema: 'tally-composite/1',
      name: 'd',
      version: '1.0.0',
      entry_point: 'n',
      nodes
    }
    const open = () =>
      createRuntime({
        location: path,
        create: 'if-absent',
        insecurePlaintextKey: true,
        serve: false,
        blocks: [block]
      })
    const tally = await open()
    loseLock()
    expect(await second()).toEqual(['ledger.locked'])
    const { receiptHash } = await tally.begin(document, { id: 'kept', inputs: {} }).result
    await writeFile(join(path, 'owner.json'), 'another')
    const run = tally.begin(document, { id: 'refused', inputs: {} })
    await expect(run.result).rejects.toEqual(code('ledger.poisoned'))
    expect(tally.status()).toMatchObject({ mode: 'poisoned', cause: { code: 'ledger.fenced' } })
    await tally.close()
    const again = await open()
    expect(again.status().mode).toBe('ready')
    expect(await again.receipt(receiptHash ?? 0)).toBeDefined()
    expect(again.run('refused')).toBeUndefined()
    await again.close()
  })
})
