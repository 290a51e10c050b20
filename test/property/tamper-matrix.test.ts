import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRuntime } from '../../src/runtime/index.js'
import { isTaken } from '../support/effort.js'
import { inspectOpening } from '../support/standing-time.js'
import { paid, payBlock } from '../support/tamper-block.js'
import { cells, type TamperColumn } from '../support/tamper-cells.js'
import { TamperPlace, type Told } from '../support/tamper-place.js'
import { rows } from '../support/tamper-rows.js'
import { forged, honest, isForged } from '../support/tamper-table.js'
import { expectVerifyFailure } from '../support/verified-close.js'

/** What a command said, and in one word how it ended: `ok`, or what caught it. */
interface Cell {
  readonly ended: string
  readonly told: string
}

let place: TamperPlace
beforeAll(async () => {
  place = await TamperPlace.create()
})
afterAll(async () => {
  // Those of the copies that the rows leave behind.
  for (const { verify } of Object.values(cells)) {
    if (verify !== undefined) expectVerifyFailure(verify)
  }
  // A run that only the other history can have begun is found once it has a receipt.
  expectVerifyFailure('inputPayload.seed.base')
  await place.remove()
})

const config = () => ['--config', place.path('tally.config.mjs')]

/** By the command line of the built package; all but {@link readers} on a copy of their own. */
const columns: Readonly<Record<TamperColumn, (location: string) => Promise<Cell>>> = {
  verify: async (location) => verdict(await place.tally(['verify'], location)),
  replay: async (location) => {
    return verdict(await place.tally(['verify', '--replay', ...config()], location))
  },
  note: async (location) => {
    return verdict(await place.tally(['verify', '--note', place.path('honest.note')], location))
  },
  open: async (location) => ({ ended: await modeOf(location), told: '' }),
  parked: async (location) => ending(await place.tally(['show', 'parked'], location)),
  ended: async (location) => ending(await place.tally(['show', 'ended'], location)),
  journal: async (location) => ending(await place.tally(['show', 'ended', '--journal'], location)),
  // The one of the unit that has changed the state.
  receipt: async (location) => ending(await place.tally(['show', '#2'], location)),
  log: async (location) => ending(await place.tally(['log'], location)),
  runs: async (location) => ending(await place.tally(['runs'], location)),
  sign: async (location) => ending(await place.tally(['note'], location)),
  approve: async (location) => {
    return ending(await place.tally(['approve', 'parked', ...config()], location))
  },
  resume: async (location) => {
    return ending(await place.tally(['resume', 'parked', ...config()], location))
  },
  run: async (location) => {
    const inputs = JSON.stringify({ ask: honest.asked })
    const words = ['run', place.path('pay.yaml'), '--id', 'ended', '--inputs', inputs]
    return ending(await place.tally([...words, ...config()], location))
  },
  export: async (location) => ending(await place.tally(['export', `${location}.tally`], location)),
  import: async (location) => {
    await place.tally(['export', `${location}.tally`, '--damaged'], location)
    return ending(await place.tally(['import', `${location}.tally`], `${location}-imported`))
  }
}

/** Columns that write nothing: they ask the same copy, one after the other. */
const readers: ReadonlySet<string> = new Set<TamperColumn>([
  'verify',
  'replay',
  'note',
  'parked',
  'ended',
  'journal',
  'receipt',
  'log',
  'runs'
])

/** What is said where something forged is shown. */
const marks = {
  'blob key': /notChecked":\["[^"]*blob key/,
  'safe mode': /notChecked":\["the ledger is in safe mode|"code":"ledger.safe_mode"/,
  changes: /notChecked":\[[^\]]*changes of the state/
} as const

/** Columns that verify with the key, which the ledgers here keep in plain text. */
const verifying: ReadonlySet<string> = new Set<TamperColumn>(['verify', 'replay', 'note'])

const reports = ['verify', 'replay', 'note', 'export', 'import'] satisfies TamperColumn[]

/** The mode after opening, which doctor has to say before. */
async function modeOf(location: string): Promise<string> {
  const blocks = [payBlock]
  const { causes } = await inspectOpening(location, { code: { blocks } })
  const tally = await createRuntime({ location, insecurePlaintextKey: true, serve: false, blocks })
  try {
    const { mode, cause } = tally.status()
    expect(causes[0]?.code).toBe(cause?.code)
    const { failure } = await tally.verify()
    if (failure !== undefined) expectVerifyFailure(failure.field)
    expect(tally.status().cause?.code).toBe(cause?.code)
    return cause?.code ?? (mode === 'ready' ? 'ok' : mode)
  } finally {
    await tally.close()
  }
}

/** Exit code 3 goes with a failure, and a failure with exit code 3. */
function verdict(told: Told): Cell {
  const report = told.documents.find(({ $type }) => $type === 'verification')
  const failure = report?.['failure'] as { readonly field: string } | undefined
  expect(told.code).toBe(failure === undefined ? 0 : 3)
  return { ended: failure?.field ?? 'ok', told: told.text }
}

function ending({ text: told, documents }: Told): Cell {
  const error = documents.find(({ $type }) => $type === 'error')
  return { ended: String(error?.['code'] ?? 'ok'), told }
}

describe.each(rows.map((row, place) => ({ ...row, place })))(
  'L12: where a forger has altered $name',
  ({ place: rowPlace, ...row }) => {
    const { alone, withKey, ...caught } = cells[row.name] ?? {}
    // The usual form asks an eighteenth of the columns, and all where only a note finds the row.
    const isWhole = alone === 'own key'
    const asked = Object.entries(columns).filter(
      ([name], columnPlace) => isWhole || name === 'verify' || isTaken(rowPlace + columnPlace, 18)
    )
    let altered: string
    beforeAll(async () => {
      altered = await place.altered(row.alter)
    })

    it.each(asked)('%s tells, and shows or does nothing forged', async (name, ask) => {
      paid.length = 0
      const { ended, told } = await ask(readers.has(name) ? altered : await place.copy(altered))
      const found = verifying.has(name) ? withKey : undefined
      expect(ended).toBe(found ?? caught[name as TamperColumn] ?? 'ok')
      // A failure that is named shows both sides of the difference.
      const isReport = ended !== 'ok' && reports.some((report) => report === name)
      if (alone === undefined) expect(isForged(told) && !isReport).toBe(false)
      else if (isForged(told) && !isReport && alone !== 'own key') {
        expect(told).toMatch(marks[alone])
      }
      if (alone !== 'own key') expect(paid).not.toContain(forged.asked)
      if (alone === 'own key' && name === 'verify') expect(told).toContain('no note given')
    })
  }
)

describe('a note', () => {
  it('P5: that fits nothing ends a verification with exit code 3', async () => {
    const location = await place.altered(async () => undefined)
    const verified = (note: string) => place.tally(['verify', '--note', place.path(note)], location)
    expect((await verified('honest.note')).code).toBe(0)
    expect((await verified('foreign.note')).code).toBe(3)
  })
})
