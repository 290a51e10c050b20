import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Clock, ManualClock, systemClock } from '../../../src/core/index.js'
import { createRuntime, defineWorkflow, type Runtime, type Workflow } from '../../../src/index.js'
import { until } from '../../support/lives.js'

/** Workflows in code whose process is closed in their midst, as every deploy does it. */

const ledger = () => join(mkdtempSync(join(tmpdir(), 'tally-')), 'ledger')

const open = (location: string, workflows: readonly Workflow[], clock: Clock = systemClock) =>
  createRuntime({ clock, location, create: 'if-absent', insecurePlaintextKey: true, workflows })

/** A function that is under way until it is released. */
function held() {
  let release = (): void => undefined
  const promise = new Promise<string>((resolve) => {
    release = () => resolve('released')
  })
  let begun = 0
  return {
    release: () => release(),
    isUnderWay: () => begun > 0,
    run: () => {
      begun += 1
      return promise
    }
  }
}

/** Closes the process of `run-1` while a function of it is under way, and opens the next one. */
async function closedAt(
  { isUnderWay, release }: ReturnType<typeof held>,
  flow: Workflow<unknown, unknown>
): Promise<Runtime> {
  const location = ledger()
  const before = await open(location, [flow])
  await before.start(flow, null, { id: 'run-1' })
  await until(isUnderWay)
  const closing = before.close()
  release()
  await closing
  return open(location, [flow])
}

async function statusOf(tally: Runtime, id: string): Promise<string | undefined> {
  const { items } = await tally.runs({ limit: 10 })
  return items.find((run) => run.id === id)?.status
}

it('L6: a run that waits for child workflows holds up no closing, and asks for them again', async () => {
  const inner = defineWorkflow({
    name: 'inner',
    version: '1.0.0',
    run: async (ctx) => ctx.signal('go')
  })
  const outer = defineWorkflow({
    name: 'outer',
    version: '1.0.0',
    run: async (ctx, ids: readonly string[]) => {
      return await ctx.all(ids.map((id) => ctx.child(inner, null, { id })))
    }
  })
  const location = ledger()
  // No time passes: closing would never end if it waited for its time of grace.
  const first = await open(location, [outer, inner], new ManualClock())
  first.begin(outer, ['inner-1', 'inner-2'], { id: 'outer-1' }).result.catch(() => undefined)
  await until(async () => (await first.waits()).items.length === 2)
  await first.close()
  await using again = await open(location, [outer, inner])
  await Promise.all(['inner-1', 'inner-2'].map((id) => again.signal(id, 'go', id)))
  const { response } = await (await again.attach('outer-1')).result
  expect(response.data).toEqual(['inner-1', 'inner-2'])
  expect(await again.verify()).toMatchObject({ ok: true, complete: true })
})

it('B12: a step that code asks for while its process closes is done by the next one', async () => {
  const first = held()
  const flow = defineWorkflow({
    name: 'flow',
    version: '1.0.0',
    run: async (ctx) => {
      const steps = async () => {
        await ctx.step('first', first.run)
        return ctx.step('second', () => 'second')
      }
      return ctx.all([ctx.signal('go'), steps()])
    }
  })
  await using after = await closedAt(first, flow)
  // Nobody sends a signal: the run has something to do without one.
  await until(async () => {
    for await (const { receipt } of after.receipts())
      if (receipt.intent === 'flow.second') return true
    return false
  })
  await until(async () => (await statusOf(after, 'run-1')) === 'waiting')
  expect(await after.verify()).toMatchObject({ ok: true, complete: true })
  await after.signal('run-1', 'go', 'gone')
  const { response } = await (await after.attach('run-1')).result
  expect(response.data).toEqual(['gone', 'second'])
})

it('B12, L7: code that ends while its process closes ends as it would without that', async () => {
  const first = held()
  const flow = defineWorkflow({
    name: 'flow',
    version: '1.0.0',
    run: async (ctx) => {
      await ctx.step('first', first.run)
      // What it calls in the midst of closing never ends.
      return ctx.race([ctx.step('second', () => 'second'), ctx.sleep('1h'), 'at once'])
    }
  })
  await using after = await closedAt(first, flow)
  const { response } = await (await after.attach('run-1')).result
  expect(response).toMatchObject({ success: true, data: 'at once' })
  expect(await after.verify()).toMatchObject({ ok: true, complete: true })
})
