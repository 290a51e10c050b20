import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { systemRandom, Xorshift128 } from '../../src/core/index.js'
import { builtFile } from '../support/built.js'
import { cases } from '../support/effort.js'

// Compiled: its processes run what is built, and so does what starts them.
const compiled = builtFile('../examples/05-orders/play.js')

it('L6, L7, L13: a service that is killed and deployed under load loses and repeats nothing', async () => {
  const { play }: typeof import('../../examples/05-orders/play.js') = await import(compiled)
  const orders = cases({ usual: 100, long: 100, soak: 1_000 })
  const seed = fc.readConfigureGlobal()?.seed ?? systemRandom.uuid()
  const words = new Xorshift128(`orders/${seed}`)
  const folder = await mkdtemp(join(tmpdir(), 'tally-orders-'))
  try {
    const location = join(folder, 'ledger')
    await mkdir(location)
    const kills = orders / 20
    const random = () => words.uint32() / 2 ** 32
    const outcome = await play({ location, orders, kills, deploys: 2, random })
    const { verified, declined, ...rest } = outcome
    const expected = { accepted: orders, kills, releases: 3, lost: [], wronglyCharged: [] }
    expect({ seed, ...rest }).toEqual({ seed, ...expected })
    expect(declined).toBe(Math.ceil(orders / 40))
    expect({ seed, ...verified }).toMatchObject({ ok: true })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
