import { engineContender, floorContender, type Load } from '../contenders.js'
import { interleaved, rateOf, Scratch } from '../measure.js'
import { against, type Group } from '../row.js'

const alone: Load = { workflows: 100, width: 1 }
const together: Load = { workflows: 640, width: 64 }

/**
 * Ten steps as one atomic composite with one receipt, against the same ten with one each: as the
 * engine does them, and with nothing but what cannot be avoided (decision 0034).
 */
export const atomic: Group = {
  rows: [
    'atomic.1.step',
    'atomic.1.output',
    'atomic.1.output.apart',
    'atomic.64.output',
    'floor.atomic'
  ],
  async measure({ rounds }) {
    const scratch = new Scratch()
    const engine = (name: string, load: Load, durability: 'output' | 'step', atomic: boolean) =>
      engineContender(name, scratch, load, { durability, atomic, stateKeys: 0 })
    const floor = (name: string, form: 'workflow' | 'atomic') =>
      floorContender(name, scratch, alone, { form, stateKeys: 0 })
    const rates = await interleaved(
      [
        await engine('step', alone, 'step', false),
        await engine('step.atomic', alone, 'step', true),
        await engine('output', alone, 'output', false),
        await engine('output.atomic', alone, 'output', true),
        await floor('floor', 'workflow'),
        await floor('floor.atomic', 'atomic'),
        await engine('64', together, 'output', false),
        await engine('64.atomic', together, 'output', true)
      ],
      rounds
    )
    scratch.remove()
    const row = (name: string, of: string, base: string, target: number | null) =>
      against(name, rateOf(rates, of), { floor: rateOf(rates, base), target })
    return [
      row('atomic.1.step', 'step.atomic', 'step', 3),
      row('atomic.1.output', 'output.atomic', 'floor', 0.9),
      row('atomic.1.output.apart', 'output.atomic', 'output', null),
      row('atomic.64.output', '64.atomic', '64', 1.5),
      row('floor.atomic', 'floor.atomic', 'floor', null)
    ]
  }
}
