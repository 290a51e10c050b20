import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createRuntime,
  type RemediedCause,
  repairLocation,
  verifyLocation
} from '../../src/runtime/index.js'
import { isTaken } from '../support/effort.js'
import { inspectOpening } from '../support/standing-time.js'
import { payBlock } from '../support/tamper-block.js'
import { cells } from '../support/tamper-cells.js'
import { TamperPlace } from '../support/tamper-place.js'
import { rows } from '../support/tamper-rows.js'
import { expectVerifyFailure } from '../support/verified-close.js'

let place: TamperPlace
beforeAll(async () => {
  place = await TamperPlace.create()
})
afterAll(async () => {
  expectVerifyFailure('state')
  for (const field of left) expectVerifyFailure(field)
  await place.remove()
})

/** What is wrong with copies in which opening finds nothing. */
const left = new Set<string>()

const code = { blocks: [payBlock] }
const nothing = { notes: [], allowCut: false, acknowledgeNotes: false }

/** How it opens, and whether it verifies with the key and the code. */
async function opened(location: string): Promise<{ readonly mode: string; readonly ok: boolean }> {
  const options = { insecurePlaintextKey: true, serve: false, ...code } as const
  const tally = await createRuntime({ location, ...options })
  try {
    const { mode, cause } = tally.status()
    // A state value is found when it is used.
    const { failure } = await tally.verify()
    if (failure !== undefined) expectVerifyFailure(failure.field)
    // What a verification finds does not change what opening has found.
    expect(tally.status()).toMatchObject({ mode, ...(cause === undefined ? {} : { cause }) })
    return { mode: cause?.code ?? mode, ok: failure === undefined }
  } finally {
    await tally.close()
  }
}

/** The usual form takes one row in three, and the first with each cause or difference. */
const taken = rows.filter(({ name }, place) => {
  const { open, verify } = cells[name] ?? {}
  const isSame = (row: { readonly name: string }) =>
    cells[row.name]?.open === open && (open !== undefined || cells[row.name]?.verify === verify)
  return isTaken(place, 3) || rows.find(isSame)?.name === name
})
const unsafe = taken.filter(({ name }) => cells[name]?.open !== undefined)

describe.each(unsafe)('K10, K2: where a forger has altered $name', (row) => {
  it('recover says what it does and loses, and with the consent it names the ledger opens', async () => {
    const location = await place.altered(row.alter)
    const open = cells[row.name]?.open
    expect((await inspectOpening(location, { code })).causes[0]?.code).toBe(open)
    const told: RemediedCause[] = []
    const onCauses = (causes: readonly RemediedCause[]) => told.push(...causes)
    await expect(repairLocation(location, { ...nothing, onCauses })).rejects.toMatchObject({
      code: 'ledger.not_recoverable'
    })
    const [cause] = told
    expect(cause).toMatchObject({ code: open, does: expect.any(String), loses: expect.any(String) })
    const consent = cause?.consent ?? 'none'
    const consents = {
      allowCut: consent === 'cut',
      acceptLock: consent === 'acceptLock',
      acknowledgeNotes: consent === 'acknowledgeNotes'
    }
    await repairLocation(location, { ...nothing, ...consents })
    expect((await inspectOpening(location, { code })).causes).toEqual([])
    expect(await opened(location)).toEqual({ mode: 'ready', ok: true })
    expect((await verifyLocation(location, { notes: [] })).failure).toBeUndefined()
  })
})

const ready = taken.filter(({ name }) => cells[name]?.open === undefined)

describe.each(ready)('K10: where a forger has altered $name', (row) => {
  it('recover has nothing to end, and the ledger opens as doctor says', async () => {
    const location = await place.altered(row.alter)
    expect((await inspectOpening(location, { code })).causes).toEqual([])
    expect((await opened(location)).mode).toBe('ready')
    // By the bytes alone another place of the same record may be the first.
    const { failure } = await verifyLocation(location, { notes: [] })
    if (failure !== undefined) left.add(failure.field)
  })
})
