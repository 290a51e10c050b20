/**
 * A process in which several chains of one store are appended to at once, each as fast as it can,
 * until it is killed. Prints the chain and its length after each acknowledged commit.
 */
import { writeSync } from 'node:fs'
import { holdStore } from '../../../src/ledger/owner/index.js'
import { appendLink, readChain } from './chain.js'

const [, , directory = '', count = ''] = process.argv
const { store } = await holdStore(directory)
await Promise.all(
  Array.from({ length: Number(count) }, async (_, number) => {
    const of = `${number}/`
    let head = await readChain(store, of)
    for (;;) {
      const { item, next } = appendLink(store, head, of)
      await store.commit([item])
      head = next
      writeSync(1, `${number} ${head.length}\n`)
    }
  })
)
