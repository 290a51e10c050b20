import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { builtModule } from '../support/built.js'
import { isTaken, testMs } from '../support/effort.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../support/ledger-on-disk.js'
import { startWriter } from './crash-store/process.js'

let disk: LedgerOnDisk
ledgerForEachTest((made) => {
  disk = made
})

const keys = () => join(disk.path, 'keys')

/** Rotates in a process that dies before its nth change of names; the changes of one that lived. */
async function rotating(step: number): Promise<number | undefined> {
  let lived: number | undefined
  const given = [builtModule('index.js'), disk.path, String(step)]
  await startWriter('killed-rotation.mjs', given, (line) => {
    const [kind, changes] = line.split(' ')
    if (kind === 'done') lived = Number(changes)
  })
  return lived
}

/** Opens and closes; gives the keys that the chain has named, oldest first. */
async function reopen(): Promise<readonly string[]> {
  const tally = await disk.open()
  expect(tally.status().mode).toBe('ready')
  const named: string[] = [tally.identity]
  for await (const { receipt, resultText = '' } of tally.receipts()) {
    if (receipt.intent !== 'system.key.rotate') continue
    named.push((JSON.parse(resultText) as { readonly publicKey: string }).publicKey)
  }
  await tally.intent({ action: 'system.approver', payload: approver })
  await disk.close()
  return named
}

const approver = { publicKey: 'a'.repeat(64), isApprover: true }

describe('a rotation that is killed', () => {
  it('I8, I9: leaves no file of a key that no receipt names, and all others, at any step', {
    timeout: testMs(240_000)
  }, async () => {
    await disk.open()
    await disk.close()
    const changes = (await rotating(Number.POSITIVE_INFINITY)) ?? 0
    expect(changes).toBeGreaterThan(4)
    const left: string[] = []
    for (let step = 1; step <= changes; step += 1) {
      if (!isTaken(step, 2)) continue
      expect(await rotating(step), `step ${step}`).toBeUndefined()
      left.push(...(await readdir(keys())).filter((name) => /\.next\.|^\./.test(name)))
      const named = await reopen()
      const [identity = ''] = named
      const replaced = named.slice(0, -1).map((key) => `${identity}.${key}.json`)
      const names = [...(await readdir(keys()))].sort()
      expect(names, `step ${step}`).toEqual([...replaced, `${identity}.json`].sort())
      const current = JSON.parse(await readFile(join(keys(), `${identity}.json`), 'utf8'))
      expect(current.publicKey).toBe(named.at(-1))
    }
    // There was something to clear up: files without a name of their own, and prepared keys.
    expect(left.some((name) => name.startsWith('.'))).toBe(true)
    expect(left.some((name) => name.endsWith('.next.json'))).toBe(true)
  })

  it('I9: keeps a prepared key while a chain that was cut is kept, and what is no key file', async () => {
    await disk.open()
    await disk.close()
    const before = await readdir(keys())
    const [current = ''] = before
    const strange = ['notes.txt', `.${current}.bak`, `${current.slice(0, 64)}.x.next.json`]
    for (const name of strange) await writeFile(join(keys(), name), 'kept')
    const kept = join(disk.path, 'data-7')
    await mkdir(kept)
    const prepared = current.replace('.json', `.${'b'.repeat(64)}.next.json`)
    await writeFile(join(keys(), prepared), 'prepared')
    await reopen()
    expect((await readdir(keys())).sort()).toEqual([...before, ...strange, prepared].sort())
    await rmdir(kept)
    await reopen()
    expect((await readdir(keys())).sort()).toEqual([...before, ...strange].sort())
  })
})
