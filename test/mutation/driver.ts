import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type CollectedTest, collect, collected, once } from './collected.js'
import { activateInThreads, endThreads, hitsInThreads, mutateThreads } from './threads.js'

/**
 * Runs the tests of a part once as they are, and then, for each mutant that is left, those of them
 * that reach it, the quickest first, until one fails. Sources are instrumented: a mutant is active
 * while the namespace of Stryker names it.
 *
 * Each mutant is a line `begun` in the file of results and one of its status; `begun` is written
 * again while its tests pass, so that silence means a test that does not end. What a mutant leaves
 * behind in a module could judge the next one wrongly: where a test that has failed fails again
 * without the mutant, the process ends, and a fresh one does the mutant again.
 */

interface Namespace {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: {
    readonly static: Readonly<Record<string, number>>
    readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>>
  }
}

interface Plan {
  readonly tests: readonly string[]
  readonly mutants: readonly string[]
  readonly results: string
  /** What the first process found of the tests as they are; those after it read it. */
  readonly dryRun: string
}

const plan = JSON.parse(readFileSync(process.env['MUTATE_PLAN'] ?? '', 'utf8')) as Plan
const stryker: Namespace = {}
Object.assign(globalThis, { __stryker__: stryker })
mutateThreads()
// Nobody reads what a property has shrunk to.
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true })

/** How often as many times as without a mutant its place may be passed. */
const HITS_FACTOR = 100
/** A test takes longer where a mutant keeps it from ending. */
const TEST_TIME_MS = 10_000
const TIME_FACTOR = 10
/** So long after its last line a mutant whose tests pass is told of again. */
const NEWS_EVERY_MS = 1_000

interface Timed {
  readonly test: CollectedTest
  readonly tookMs: number
  readonly hits: Readonly<Record<string, number>>
}

type Known = Omit<Timed, 'test'> & { readonly title: string }

const byTime = (one: Timed, other: Timed): number => one.tookMs - other.tookMs

function tell(line: object): void {
  appendFileSync(plan.results, `${JSON.stringify(line)}\n`)
}

/** What became of a test: undefined, it has passed. */
async function failureOf({ test, tookMs }: Timed): Promise<'Killed' | 'Timeout' | undefined> {
  await endThreads()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), Math.max(TEST_TIME_MS, tookMs * TIME_FACTOR))
  })
  try {
    const ended = await Promise.race([test.run(), late])
    return ended === 'late' ? 'Timeout' : undefined
  } catch {
    return (stryker.hitCount ?? 0) > (stryker.hitLimit ?? 0) ? 'Timeout' : 'Killed'
  } finally {
    clearTimeout(timer)
  }
}

async function dryRun(): Promise<readonly Timed[]> {
  const timed: Timed[] = []
  if (existsSync(plan.dryRun)) {
    const known = JSON.parse(readFileSync(plan.dryRun, 'utf8')) as readonly Known[]
    expect(known.map(({ title }) => title)).toEqual(collected.map(({ title }) => title))
    return collected
      .flatMap((test, at) => known.slice(at, at + 1).map((one): Timed => ({ ...one, test })))
      .sort(byTime)
  }
  for (const [at, test] of collected.entries()) {
    stryker.currentTestId = `${at + 1}`
    await endThreads()
    hitsInThreads()
    const before = performance.now()
    await test.run().catch((error: unknown) => {
      throw new Error(`it fails without a mutant: ${test.title}`, { cause: error })
    })
    const hits = { ...stryker.mutantCoverage?.perTest[`${at + 1}`], ...hitsInThreads() }
    timed.push({ test, tookMs: performance.now() - before, hits })
  }
  stryker.currentTestId = undefined
  const found = timed.map(({ test, ...rest }): Known => ({ title: test.title, ...rest }))
  writeFileSync(plan.dryRun, JSON.stringify(found))
  return timed.sort(byTime)
}

async function judge(id: string, all: readonly Timed[], isFirst: boolean): Promise<boolean> {
  const reaching = all.filter(({ hits }) => hits[id] !== undefined)
  if (reaching.length === 0) {
    const isStatic = stryker.mutantCoverage?.static[id] !== undefined
    tell({ id, status: isStatic ? 'Ignored' : 'NoCoverage' })
    return true
  }
  tell({ id, status: 'begun' })
  let toldAt = performance.now()
  for (const one of reaching) {
    if (performance.now() - toldAt > NEWS_EVERY_MS) {
      tell({ id, status: 'begun' })
      toldAt = performance.now()
    }
    const { test, hits } = one
    Object.assign(stryker, { activeMutant: id, hitCount: 0 })
    const hitLimit = (hits[id] ?? 0) * HITS_FACTOR
    stryker.hitLimit = hitLimit
    activateInThreads(id, hitLimit)
    const failed = await failureOf(one)
    Object.assign(stryker, { activeMutant: undefined, hitCount: undefined })
    activateInThreads(undefined)
    if (failed === undefined) continue
    const isClean = (await failureOf(one)) === undefined
    if (isClean || isFirst) tell({ id, status: failed, by: test.title })
    return isClean
  }
  tell({ id, status: 'Survived' })
  return true
}

it(
  'judges mutants',
  async () => {
    for (const file of plan.tests) {
      await collect(file, () => import(/* @vite-ignore */ `../../${file}`))
    }
    expect(collected.length).toBeGreaterThan(0)
    for (const hook of once.before) await hook()
    const all = await dryRun()
    tell({ tests: all.length, tookMs: all.reduce((sum, { tookMs }) => sum + tookMs, 0) })
    let isFirst = true
    for (const id of plan.mutants) {
      if (!(await judge(id, all, isFirst))) return
      isFirst = false
    }
    tell({ isOver: true })
  },
  24 * 3_600_000
)
