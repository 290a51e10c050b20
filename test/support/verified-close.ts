import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isTallyError } from '../../src/core/index.js'
import {
  inspectLocation,
  type Ledger,
  type Store,
  type VerificationFailure,
  verifyLedger
} from '../../src/ledger/index.js'
import { verifyLocation } from '../../src/runtime/index.js'
import { Quarantine } from '../../src/runtime/run/quarantine.js'
import { Runs } from '../../src/runtime/run/runs.js'
import { WiredRuntime } from '../../src/runtime/runtime.js'
import { isSoak } from './effort.js'
import { standingTime } from './standing-time.js'

/**
 * Verifies every ledger that a test closes: an honest one always verifies, whatever the test is
 * about. Installed for all test files by `setup.ts`.
 *
 * Owns: what was found wrong since the test began, and which failures it has named.
 *
 * - A runtime is verified with the code that is registered, once its runs have stopped: its last
 *   chance before the sandbox closes. Above {@link REEXECUTED_RECEIPTS_MAX} receipts nothing is
 *   executed again, and but for soaks neither is what the test has just verified itself.
 * - A ledger without a runtime is verified by its bytes when it is closed; `ledgers.ts` opens it.
 * - A directory that other processes have written is verified by its bytes when it is removed.
 */
const REEXECUTED_RECEIPTS_MAX = 1_000

/** Folders below a removed directory in which ledgers are looked for. */
const LOOKED_DEPTH_MAX = 3

interface Found {
  readonly field: string
  readonly text: string
}

interface Report {
  readonly failure?: VerificationFailure | undefined
}

let found: Found[] = []
let named: string[] = []
const occurred = new Set<string>()
/** Where ledgers stood when a test had everything in them executed again. */
const reexecuted = new WeakMap<Ledger, string>()
/** How often each ledger of {@link reexecuted} was appended to since it was first looked at. */
const appends = new WeakMap<Ledger, number>()
/** Ledgers whose runtime has been verified. */
const verified = new WeakSet<Ledger>()
let isInstalled = false

/**
 * Says which failure the ledgers of this test are to be found with when they are closed: the field
 * of the report, or the code of an error. The test fails when none of them is.
 */
export function expectVerifyFailure(field: string): void {
  named.push(field)
}

/** What is to be said against the test that has ended; the next one begins anew. */
export function verificationProblems(): readonly string[] {
  const missing = named.filter((field) => !occurred.has(field))
  const problems = [
    ...found.map(({ text }) => text),
    ...missing.map((field) => `no closed ledger fails with ${field}, which the test expects`)
  ]
  found = []
  named = []
  occurred.clear()
  return problems
}

/** Wraps what closes ledgers and removes directories; once for a process. */
export function installVerification(): void {
  if (isInstalled) return
  isInstalled = true
  const runtimes = new WeakMap<Runs, WiredRuntime>()
  const { close } = WiredRuntime.prototype
  WiredRuntime.prototype.close = async function (this: WiredRuntime) {
    runtimes.set(this.runsOf, this)
    await close.call(this)
  }
  const { checkIntegrity } = WiredRuntime.prototype
  WiredRuntime.prototype.checkIntegrity = function (this: WiredRuntime, time = standingTime) {
    return checkIntegrity.call(this, time)
  }
  const { verify, replay } = WiredRuntime.prototype
  WiredRuntime.prototype.verify = function (this: WiredRuntime, options = {}) {
    const { reexecute = true } = options
    return reexecute ? noted(this, () => verify.call(this, options)) : verify.call(this, options)
  }
  WiredRuntime.prototype.replay = function (this: WiredRuntime, options) {
    return noted(this, () => replay.call(this, options))
  }
  const { found: markFound } = Quarantine.prototype
  const closing = new WeakSet<Quarantine>()
  Quarantine.prototype.found = async function (this: Quarantine, difference) {
    // The test reports what the harness finds, and marks nothing.
    if (!closing.has(this)) await markFound.call(this, difference)
  }
  const { close: closeRuns } = Runs.prototype
  Runs.prototype.close = async function (this: Runs) {
    await closeRuns.call(this)
    const runtime = runtimes.get(this)
    // No test closes a runtime twice, but it may be asked to.
    runtimes.delete(this)
    if (runtime === undefined) return
    closing.add(runtime.quarantine)
    await verifyRuntime(runtime)
  }
  const { rm } = fs
  fs.rm = async (path, options) => {
    // Deeper ones are the product's own.
    const isOfTest = dirname(resolve(String(path))) === tmpdir()
    if (options?.recursive === true && isOfTest) await verifyBelow(String(path))
    await rm(path, options)
  }
  syncBuiltinESMExports()
}

/** Remembers where a ledger stands of which a test has just had everything executed again. */
async function noted<Given extends Report>(
  { ledger }: WiredRuntime,
  verify: () => Promise<Given>
): Promise<Given> {
  if (!appends.has(ledger)) countAppends(ledger)
  const before = placeOf(ledger)
  const report = await verify()
  if (report.failure === undefined && placeOf(ledger) === before) reexecuted.set(ledger, before)
  return report
}

function countAppends(ledger: Ledger): void {
  const { append } = ledger
  appends.set(ledger, 0)
  ledger.append = (item) => {
    appends.set(ledger, (appends.get(ledger) ?? 0) + 1)
    return append.call(ledger, item)
  }
}

function placeOf(ledger: Ledger): string {
  return JSON.stringify([appends.get(ledger), ledger.roots()])
}

async function verifyRuntime({ audit, ledger }: WiredRuntime): Promise<void> {
  verified.add(ledger)
  const { receipts, mode } = ledger.state()
  const isKnown = !isSoak && reexecuted.get(ledger) === placeOf(ledger)
  const reexecute = receipts <= REEXECUTED_RECEIPTS_MAX && !isKnown
  await judge(`a runtime of ${receipts} receipts (${mode})`, () => audit.verify({ reexecute }))
}

/** Verifies a ledger without a runtime, by its bytes. */
export async function verifyClosed(ledger: Ledger, store: Store): Promise<void> {
  if (verified.has(ledger)) return
  const { identity } = ledger
  await judge('a ledger', () => verifyLedger({ store, identity }))
}

async function judge(what: string, verify: () => Promise<Report>): Promise<void> {
  let field: string
  let more: unknown
  try {
    const { failure } = await verify()
    if (failure === undefined || isNoLedger(failure)) return
    field = failure.field
    more = failure
  } catch (error) {
    // The process of the test has died meanwhile: the next opening of the ledger verifies it.
    if (isTallyError(error, 'store.closed')) return
    field = isTallyError(error) ? error.code : String(error)
    more = error
  }
  if (named.includes(field)) occurred.add(field)
  else
    found.push({ field, text: `${what} was closed and does not verify: ${JSON.stringify(more)}` })
}

/** A store in which no ledger was begun, or that a process of the test has taken along. */
function isNoLedger({ field, commit, computed }: VerificationFailure): boolean {
  if (field === 'head') return commit === 0 && computed === 'absent'
  return field === 'store' && computed === 'The store at faulty disk is closed.'
}

async function verifyBelow(directory: string): Promise<void> {
  for (const location of await locationsBelow(directory, LOOKED_DEPTH_MAX)) {
    const marker = await inspectLocation(location).then(
      (inspected) => inspected?.marker,
      () => undefined
    )
    if (marker === undefined || !(await isDatabase(join(location, marker.live)))) continue
    for (const identity of marker.identities) {
      await judge(`the directory ${location}`, async () => {
        try {
          return await verifyLocation(location, { identity, notes: [] })
        } catch (error) {
          // Some process holds it still, so that it is not closed.
          if (isTallyError(error, 'ledger.locked')) return {}
          throw error
        }
      })
    }
  }
}

/** Whether LevelDB has made this folder, and not a test in its place. */
async function isDatabase(path: string): Promise<boolean> {
  const names = await fs.readdir(path).catch(() => [])
  return names.some((name) => name.startsWith('MANIFEST-'))
}

async function locationsBelow(directory: string, depth: number): Promise<readonly string[]> {
  const entries = await fs.readdir(directory, { withFileTypes: true }).catch(() => [])
  if (entries.some((entry) => entry.name === 'marker.json')) return [directory]
  if (depth === 0) return []
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  const below: string[] = []
  for (const { name } of folders) {
    below.push(...(await locationsBelow(join(directory, name), depth - 1)))
  }
  return below
}
