import { describe, expect, it } from 'vitest'
import { TURN_EFFECT } from '../../../../src/agent/index.js'
import { defineBlock, defineWorkflow } from '../../../../src/code/index.js'
import { chainEffects } from '../../../../src/executor/index.js'
import { isOfRoom, prepareTarget } from '../../../../src/testing/machine/target.js'
import { EXECUTION_EFFECT, TIME_EFFECT } from '../../../../src/workflow/index.js'
import { compositeDocument } from '../../../support/composites.js'

const says = defineBlock({ name: 'says', version: '1.0.0', sideEffects: 'none', run: () => 'yes' })
const document = compositeDocument({ nodes: { say: { block: 'says' } } })
const target = { document, blocks: [says] }
const child = defineWorkflow({ name: 'child', version: '1.0.0', run: async () => null })
const served = (name: string) => ({ name, version: '1', perform: () => null })

async function asks(...given: Parameters<typeof prepareTarget>): Promise<boolean> {
  const prepared = await prepareTarget(...given)
  await prepared.close()
  return prepared.rooms !== undefined
}

describe('the world that a target is played in', () => {
  it('has no chains and agents where nothing asks them', async () => {
    expect(await asks(target)).toBe(false)
    expect(await asks({ ...target, providers: [served('pay')] })).toBe(false)
    expect(await asks(says)).toBe(false)
  })

  it.each([
    ['an effect of theirs is served', { providers: [served(chainEffects.read)] }],
    ['code may start runs', { workflows: [child] }],
    ['a document may use another', { composites: [{ ...document, name: 'used' }] }],
    ['workflows are configured', { workflow: {} }]
  ])('has them where %s, also after a redeploy alone', async (_, registered) => {
    expect(await asks({ ...target, ...registered })).toBe(true)
    expect(await asks(target, { blocks: [says], ...registered })).toBe(true)
  })

  it('has them for a workflow in code', async () => {
    expect(await asks(child)).toBe(true)
  })

  it('knows their effects by name before their rooms are loaded', () => {
    const names = [...Object.values(chainEffects), TURN_EFFECT, EXECUTION_EFFECT, TIME_EFFECT]
    expect(names.filter((name) => !isOfRoom(name))).toEqual([])
  })
})
