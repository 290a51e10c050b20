/**
 * A process that appends to a chain until it is killed. Prints the length after each acknowledged
 * commit, or the code of the error that refused it the ledger.
 */
import { writeSync } from 'node:fs'
import { isTallyError } from '../../../src/core/index.js'
import { holdStore } from '../../../src/ledger/owner/index.js'
import { appendLink, readChain } from './chain.js'

const [, , directory = ''] = process.argv
try {
  const { store } = await holdStore(directory)
  let head = await readChain(store)
  for (;;) {
    const { item, next } = appendLink(store, head)
    await store.commit([item])
    head = next
    writeSync(1, `${head.length}\n`)
  }
} catch (error) {
  writeSync(1, `${isTallyError(error) ? error.code : String(error)}\n`)
}
