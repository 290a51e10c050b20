import { engineContender, floorContender, type Load } from '../contenders.js'
import { interleaved, rateOf, Scratch } from '../measure.js'
import { against, type Group } from '../row.js'

const alone: Load = { workflows: 100, width: 1 }
const together: Load = { workflows: 640, width: 64 }

/** Ten steps as one atomic composite with one receipt, against the same ten with one each. */
export const atomic: Group = {
  rows: [
    'atomic.1.step',
    'atomic.1.output',
    'atomic.64.output',
    'atomic.1.output.floor',
    'floor.atomic'
  ],
  async measure({ rounds }) {
    const scratch = new Scratch()
    const engine = (name: string, load: Load, durability: 'output' | 'step', atomic: boolean) =>
      engineContender(name, scratch, load, { durability, atomic, stateKeys: 0 })
    const rates = await interleaved(
      [
        await engine('step', alone, 'step', false),
        await engine('step.atomic', alone, 'step', true),
        await engine('output', alone, 'output', false),
        await engine('output.atomic', alone, 'output', true),
        await engine('64', together, 'output', false),
        await engine('64.atomic', together, 'output', true),
        await floorContender('floor', scratch, alone, { form: 'workflow', stateKeys: 0 }),
        await floorContender('floor.atomic', scratch, alone, { form: 'atomic', stateKeys: 0 })
      ],
      rounds
    )
    scratch.remove()
    const row = (name: string, of: string, target: number | null) =>
      against(name, rateOf(rates, `${of}.atomic`), { floor: rateOf(rates, of), target })
    return [
      row('atomic.1.step', 'step', 3),
      row('atomic.1.output', 'output', 1.5),
      row('atomic.64.output', '64', 1.5),
      against('atomic.1.output.floor', rateOf(rates, 'output.atomic'), {
        floor: rateOf(rates, 'floor.atomic'),
        target: null
      }),
      row('floor.atomic', 'floor', null)
    ]
  }
}
