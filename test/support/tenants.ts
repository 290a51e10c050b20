import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineBlock, defineWorkflow } from '../../src/code/index.js'
import {
  type LocationOptions,
  type LocationRuntime,
  openLocation
} from '../../src/runtime/index.js'

export const keep = defineBlock({
  name: 'keep',
  version: '1',
  sideEffects: 'none',
  intents: ['keep'],
  run: (ctx, { key, value }: { readonly key: string; readonly value: string }) => {
    ctx.state.set(`kept/${key}`, value)
    return { value }
  }
})

/** Keeps something now, and something else once so long has passed. */
export const later = defineWorkflow({
  name: 'later',
  version: '1.0.0',
  blocks: [keep],
  async run(ctx, { ms }: { readonly ms: number }) {
    await ctx.step('first', keep, { key: 'first', value: ctx.runId })
    await ctx.sleep(ms)
    await ctx.step('last', keep, { key: 'last', value: ctx.runId })
    return null
  }
})

/** Open until its signal arrives. */
export const hears = defineWorkflow({
  name: 'hears',
  version: '1.0.0',
  run: async (ctx) => ctx.signal('go')
})

/** A location that a test opens for many identities, as often as it likes. */
export class TenantsOnDisk {
  readonly directory: string
  #opened: LocationRuntime[] = []

  private constructor(directory: string) {
    this.directory = directory
  }

  static async create(): Promise<TenantsOnDisk> {
    return new TenantsOnDisk(await mkdtemp(join(tmpdir(), 'tally-tenants-')))
  }

  get path(): string {
    return join(this.directory, 'ledger')
  }

  async open(options: Partial<LocationOptions> = {}): Promise<LocationRuntime> {
    const location = await openLocation({
      ...{ location: this.path, create: 'if-absent', insecurePlaintextKey: true, serve: false },
      ...{ blocks: [keep], workflows: [later, hears] },
      ...options
    })
    this.#opened.push(location)
    return location
  }

  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = []
    for (const location of opened) await location.close()
  }

  async remove(): Promise<void> {
    await this.close()
    await rm(this.directory, { recursive: true, force: true })
  }
}
