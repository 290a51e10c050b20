import { expect, vi } from 'vitest'

/**
 * What the tests that judge a part get in the place of Vitest: `describe` and `it` collect, so that
 * one process can run a test as often as there are mutants that it reaches.
 */

export { expect, vi }

type Body = (...given: unknown[]) => unknown

export interface CollectedTest {
  readonly title: string
  run(): Promise<void>
}

interface Hooks {
  readonly beforeEach: Body[]
  readonly afterEach: Body[]
}

export const collected: CollectedTest[] = []
/** What runs once, before the tests of a file and behind them. */
export const once = { before: [] as Body[], after: [] as Body[] }
let open: readonly { readonly title: string; readonly hooks: Hooks }[] = []

export function describe(title: string, body: () => void): void {
  const around = open
  open = [...around, { title, hooks: { beforeEach: [], afterEach: [] } }]
  body()
  open = around
}

/** Collects the tests of a file, whose own hooks are around all of them. */
export async function collect(file: string, load: () => Promise<unknown>): Promise<void> {
  open = [{ title: file, hooks: { beforeEach: [], afterEach: [] } }]
  await load()
  open = []
}
describe.each = (cases: readonly unknown[]) => (title: string, body: Body) => {
  for (const given of cases) describe(title, () => void body(...listed(given)))
}

function test(title: string, body: Body): void {
  const around = open
  collected.push({
    title: [...around.map((one) => one.title), title].join(' > '),
    run: async () => {
      const undoing: Body[] = []
      try {
        for (const { hooks } of around) {
          for (const hook of hooks.beforeEach) {
            const undo = await hook()
            if (typeof undo === 'function') undoing.unshift(undo as Body)
          }
        }
        await body()
      } finally {
        for (const undo of undoing) await undo()
        for (const { hooks } of around) for (const hook of hooks.afterEach) await hook()
        vi.restoreAllMocks()
      }
    }
  })
}
test.each = (cases: readonly unknown[]) => (title: string, body: Body) => {
  for (const given of cases) test(title, () => body(...listed(given)))
}

export { test, test as it }

function listed(given: unknown): unknown[] {
  return Array.isArray(given) ? given : [given]
}

const hookOf = (name: keyof Hooks) => (hook: Body) => {
  const around = open.at(-1)
  if (around === undefined) throw new Error(`${name} stands outside of a file`)
  around.hooks[name].push(hook)
}
export const beforeEach = hookOf('beforeEach')
export const afterEach = hookOf('afterEach')
export const beforeAll = (hook: Body): void => void once.before.push(hook)
export const afterAll = (hook: Body): void => void once.after.push(hook)
