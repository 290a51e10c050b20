import { describe, expect, it } from 'vitest'
import { createRuntime, defineBlock } from '../../../src/index.js'

describe('names of effects', () => {
  it.each(['wait', 'timer', 'state.list'])(
    'an effect cannot have the name %s, which the journal uses for another kind of call',
    async (name) => {
      const block = defineBlock({
        name: 'clashing',
        version: '1.0.0',
        sideEffects: 'none',
        run: (ctx) => ctx.effect(name, { perform: () => 'never performed' })
      })
      await using tally = await createRuntime({ location: 'memory:', blocks: [block] })
      const document = {
        schema: 'tally-composite/1',
        name: 'clash',
        version: '1.0.0',
        entry_point: 'one',
        nodes: { one: { block: 'clashing' } }
      }
      const { status, response } = await tally.begin(document, { id: 'run' }).result
      expect(status).toBe('failed')
      expect(response).toMatchObject({ reason: 'effect_name_reserved', details: { effect: name } })
      expect(await tally.verify()).toMatchObject({ ok: true })
    }
  )
})
