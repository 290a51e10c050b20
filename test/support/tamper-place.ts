import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type IdentityId, isJsonObject, type Json } from '../../src/core/index.js'
import { holdStore, mainIdentity, type Store } from '../../src/ledger/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { signed } from './approvers.js'
import { builtModule } from './built.js'
import { documentOf, temporaryDirectory } from './snapshots.js'
import { paid, payBlock } from './tamper-block.js'
import { forged, honest } from './tamper-table.js'

/**
 * Where rows of the tamper matrix find the ledgers that they need, each made once:
 *
 * - `honest`: the runs `first`, `ended` and `last` have succeeded, `parked` waits.
 * - `earlier`: the same ledger before `last` and `parked` began.
 * - `again`: what the same key signs when other things are asked for.
 * - `foreign`: the same history of another identity.
 */
export class TamperPlace {
  readonly #place: Awaited<ReturnType<typeof temporaryDirectory>>
  #copies = 0

  private constructor(place: Awaited<ReturnType<typeof temporaryDirectory>>) {
    this.#place = place
  }

  static async create(): Promise<TamperPlace> {
    const made = new TamperPlace(await temporaryDirectory('tamper-matrix'))
    const { path } = made
    await writeFile(path('tally.config.mjs'), config)
    await writeFile(path('pay.yaml'), documentOf('pay'))
    await live(path('empty'), honest.asked, [])
    await cp(path('empty'), path('honest'), { recursive: true })
    await cp(path('empty'), path('again'), { recursive: true })
    await live(path('honest'), honest.asked, ['first', 'ended'])
    await cp(path('honest'), path('earlier'), { recursive: true })
    await live(path('honest'), honest.asked, ['last', 'parked'])
    await live(path('again'), forged.asked, ['first', 'ended', 'last', 'parked'])
    await live(path('foreign'), honest.asked, ['first', 'ended', 'last'])
    await made.tally(['note', '--output', path('honest.note')], path('honest'))
    await made.tally(['note', '--output', path('foreign.note')], path('foreign'))
    return made
  }

  readonly path = (name: string): string => this.#place.path(name)

  remove(): Promise<void> {
    return this.#place.remove()
  }

  /** A copy of the honest ledger, altered. */
  async altered(alter: (location: string, place: TamperPlace) => Promise<void>): Promise<string> {
    const location = await this.copy(this.path('honest'))
    await alter(location, this)
    return location
  }

  async copy(from: string): Promise<string> {
    this.#copies += 1
    const location = this.path(`copy-${this.#copies}`)
    await cp(from, location, { recursive: true })
    return location
  }

  /** Puts a directory of another ledger of the place where that of a location is. */
  async replace(location: string, directory: string, from: string): Promise<void> {
    await rm(join(location, directory), { recursive: true, force: true })
    await cp(join(this.path(from), directory), join(location, directory), { recursive: true })
  }

  /** What `tally` says on both streams, and its documents. */
  async tally(words: readonly string[], directory: string): Promise<Told> {
    const chunks: string[] = []
    const sink = {
      write: (chunk: string, done?: () => void) => {
        chunks.push(chunk)
        done?.()
        return true
      }
    }
    const { perform } = (await import(builtModule('cli/program.js'))) as Pick<
      typeof import('../../src/cli/program.js'),
      'perform'
    >
    const code = await perform([...words, '--dir', directory, '--json'], {
      stdout: sink,
      stderr: sink,
      environment: {},
      cwd: this.path('')
    })
    const text = chunks.join('')
    return { code, text, documents: documentsIn(text) }
  }
}

export interface Told {
  readonly code: number
  readonly text: string
  readonly documents: readonly Readonly<Record<string, Json>>[]
}

function documentsIn(text: string): Told['documents'] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return []
    const value = JSON.parse(line) as Json
    return isJsonObject(value) ? [value] : []
  })
}

/** The same block for the command line, which is the built one: it has its own copy of all. */
Object.assign(globalThis, { tamperMatrixPaid: paid })
const config = `import { defineBlock } from 'tallystick'
export default {
  blocks: [
    defineBlock({
      name: 'pay',
      version: '1',
      sideEffects: 'none',
      capabilities: ['pay'],
      run: async (ctx, input) => {
        await ctx.wait({ reason: 'confirmation', request: input.ask })
        const perform = () => globalThis.tamperMatrixPaid.push(input.ask)
        await ctx.effect('pay', { request: input.ask, perform })
        ctx.state.set('paid/' + ctx.uuid(), input.ask)
        return '${honest.result}'
      }
    })
  ]
}
`

/** Does the named runs; all but `parked` are approved. */
async function live(location: string, ask: string, ids: readonly string[]): Promise<void> {
  const options = { insecurePlaintextKey: true, serve: false, blocks: [payBlock] } as const
  const tally = await createRuntime({ location, ...options, create: 'if-absent' })
  for (const id of ids) {
    const run = tally.begin(documentOf('pay'), { id, inputs: { ask } })
    for await (const event of run) {
      if (event.type === 'waiting' && id !== 'parked') {
        await run.approve(event.token, { digest: event.digest, approval: signed(event, 'ada') })
      }
      if (event.type === 'run.parked') break
    }
    // One that was approved may park before it is taken up: without this, the next begins in
    // the same commit in which it ends, and which commit is the last depends on the machine.
    if (id !== 'parked') await run.result
  }
  await tally.close()
}

/** Gives the open store of a location to a change of it. */
export async function inStore(
  location: string,
  change: (store: Store, identity: IdentityId) => Promise<void>
): Promise<void> {
  const held = await holdStore(location)
  try {
    const identity = mainIdentity(held.location.marker)
    if (identity === undefined) throw new Error('there is no identity')
    await change(held.store, identity)
  } finally {
    await held.close()
  }
}
