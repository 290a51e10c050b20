import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspectLocation, openLevelStore } from '../../../src/ledger/index.js'

/** All that a closed ledger keeps: bytes of all files, and keys and values of its store. */
export async function dumpOf(location: string): Promise<string> {
  const entries = await readdir(location, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const parts = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const bytes = await readFile(join(parentPath, name))
      return `${name}\n${bytes.toString('latin1')}\n`
    })
  )
  const found = await inspectLocation(location)
  if (found === undefined) throw new Error('there is no ledger')
  // LevelDB compresses its blocks, so that no text can be found in their bytes.
  const store = await openLevelStore({ path: join(location, found.marker.live), create: false })
  for await (const [key, value] of store.entries({ gte: '', lt: '\uffff' })) {
    parts.push(`${key}\n${Buffer.from(value).toString('utf8')}\n`)
  }
  await store.close()
  return parts.join('')
}
