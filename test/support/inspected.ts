import { readFileSync } from 'node:fs'
import type { RunStarted } from '../../src/block/index.js'
import type { RunId } from '../../src/core/index.js'
import { type InspectionMessage, RunMessages } from '../../src/inspect/index.js'
import { Registry } from '../../src/runtime/code/registry.js'
import { type RecordedLine, sceneRegistrations } from './journal-scenes.js'
import { testKeys, World } from './lives.js'

/** A recorded journal, as `test/vectors/journals` has it. */
export function journalNamed(name: string) {
  const url = new URL(`../vectors/journals/${name}.json`, import.meta.url)
  const { entries, receipts } = JSON.parse(readFileSync(url, 'utf8'))
  return { entries: entries as readonly string[], receipts: receipts as readonly string[] }
}

/** Its entries with the receipts that they completed. */
export function linesNamed(name: string): readonly RecordedLine[] {
  const { entries, receipts } = journalNamed(name)
  return entries.map((text, n) => ({ text, receiptHash: receipts[n] ?? null }))
}

/** The messages that each entry of a recorded journal leads to. */
export async function messagesOf(
  name: string,
  options: { readonly payloads: boolean }
): Promise<readonly (readonly InspectionMessage[])[]> {
  const { entries, receipts } = journalNamed(name)
  const started = JSON.parse(entries[0] ?? '{}') as RunStarted
  const registry = await Registry.open(sceneRegistrations(new World()))
  const recorded = await registry.recorded(started)
  if (recorded.kind !== 'ready') throw new Error(`its code is not here: ${recorded.kind}`)
  const { root, compiled, block } = recorded
  const library = compiled.kind === 'leaf' ? compiled.library : compiled.plan
  const { identity } = testKeys
  const runId = started.run as RunId
  const run = new RunMessages({ runId, identity, root, compiled, library, block, ...options })
  return entries.map((text, n) => {
    const receiptHash = (receipts[n] ?? undefined) as never
    return run.take({ entry: JSON.parse(text), text, receiptHash })
  })
}
