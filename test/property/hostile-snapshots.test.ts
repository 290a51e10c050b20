import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hostileSnapshots } from '../../bench/hostile-snapshots.js'
import { isTallyError } from '../../src/core/index.js'
import { importSnapshot } from '../../src/ledger/index.js'
import { isLong } from '../support/effort.js'
import { OperationCount } from '../support/operations.js'
import { fillLedger, openSnapshotLedger, temporaryDirectory } from '../support/snapshots.js'

/** Size of the smaller file of a pair, and how often the larger one has it. */
const BYTES = isLong ? 160_000 : 20_000
const TIMES = 4
/** What the larger file may cost more than in proportion, and beside it. */
const GROWTH_MAX = 1.5 * TIMES
const NOISE = 100_000
/** Blocks of code that are executed for a byte of a snapshot, whatever it holds. */
const OPERATIONS_OF_BYTE_MAX = 20

const count = new OperationCount()
let place: Awaited<ReturnType<typeof temporaryDirectory>>
let honest: readonly string[]

beforeAll(async () => {
  place = await temporaryDirectory('hostile-snapshots')
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  await fillLedger(tally)
  await tally.export({ path: place.path('honest.snapshot') })
  await tally.close()
  honest = (await readFile(place.path('honest.snapshot'), 'utf8')).trimEnd().split('\n')
  // What is loaded with the first import is not counted.
  await importSnapshot(place.path('first'), { file: place.path('honest.snapshot') })
})
afterAll(async () => {
  count[Symbol.dispose]()
  await place.remove()
})

it.each(hostileSnapshots)(
  'a snapshot of $name is refused with work in proportion to its bytes',
  async ({ name, make }) => {
    const file = place.path('hostile.snapshot')
    const cost = async (bytes: number) => {
      await writeFile(file, make(honest, bytes))
      count.take()
      const error = await importSnapshot(place.path(`${name} ${bytes}`), { file }).catch(
        (one) => one
      )
      const operations = count.take()
      expect(isTallyError(error), String(error)).toBe(true)
      return operations
    }
    await cost(1_000)
    const small = await cost(BYTES)
    const large = await cost(BYTES * TIMES)
    expect(large).toBeLessThan(GROWTH_MAX * small + NOISE)
    expect(large).toBeLessThan(OPERATIONS_OF_BYTE_MAX * BYTES * TIMES + NOISE)
  }
)
