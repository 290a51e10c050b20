import { engineContender, floorContender, type Load, peerContender } from '../contenders.js'
import { interleaved, rateOf, Scratch } from '../measure.js'
import { against, type Group, shown } from '../row.js'

const STATE_KEYS = 10_000
const load: Load = { workflows: 640, width: 64 }

/** 64 workflows of ten steps at once. */
export const together: Group = {
  rows: [
    'steps.64.output',
    'steps.64.output.state',
    'steps.64.step',
    'steps.64.step.state',
    'steps.64.output.against-xstate-level',
    'floor.group',
    'floor.group.state',
    'peer.xstate-level.64'
  ],
  async measure({ rounds }) {
    const scratch = new Scratch()
    const engine = (name: string, durability: 'output' | 'step', stateKeys: number) =>
      engineContender(name, scratch, load, { durability, stateKeys })
    const rates = await interleaved(
      [
        await floorContender('floor', scratch, load, { form: 'group', stateKeys: 0 }),
        await engine('output', 'output', 0),
        await peerContender('peer', scratch, load),
        await engine('step', 'step', 0),
        await floorContender('floor.state', scratch, load, {
          form: 'group',
          stateKeys: STATE_KEYS
        }),
        await engine('output.state', 'output', STATE_KEYS),
        await engine('step.state', 'step', STATE_KEYS)
      ],
      rounds
    )
    scratch.remove()
    const rate = (name: string) => rateOf(rates, name)
    const floor = rate('floor')
    const withState = rate('floor.state')
    const output = rate('output')
    return [
      against('steps.64.output', output, { floor, target: 0.6 }),
      against('steps.64.output.state', rate('output.state'), { floor: withState, target: 0.5 }),
      against('steps.64.step', rate('step'), { floor, target: null }),
      against('steps.64.step.state', rate('step.state'), { floor: withState, target: null }),
      against('steps.64.output.against-xstate-level', output, { floor: rate('peer'), target: 0.5 }),
      shown('floor.group', floor, 'steps/s', 'higher'),
      shown('floor.group.state', withState, 'steps/s', 'higher'),
      shown('peer.xstate-level.64', rate('peer'), 'steps/s', 'higher')
    ]
  }
}
