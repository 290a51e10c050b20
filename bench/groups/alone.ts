import { engineContender, floorContender, type Load, peerContender } from '../contenders.js'
import { interleaved, rateOf, Scratch } from '../measure.js'
import { against, type Group, shown } from '../row.js'

const STATE_KEYS = 10_000
const load: Load = { workflows: 150, width: 1 }

/** Workflows of ten steps, one after the other. */
export const alone: Group = {
  rows: [
    'steps.1.output',
    'steps.1.output.state',
    'steps.1.step',
    'steps.1.step.state',
    'floor.workflow',
    'floor.workflow.state',
    'floor.step',
    'floor.step.state',
    'peer.xstate-level.1'
  ],
  async measure({ rounds }) {
    const scratch = new Scratch()
    const engine = (name: string, durability: 'output' | 'step', stateKeys: number) =>
      engineContender(name, scratch, load, { durability, stateKeys })
    const floor = (name: string, form: 'workflow' | 'step', stateKeys: number) =>
      floorContender(name, scratch, load, { form, stateKeys })
    const rates = await interleaved(
      [
        await floor('workflow', 'workflow', 0),
        await engine('output', 'output', 0),
        await floor('step', 'step', 0),
        await engine('each', 'step', 0),
        await peerContender('peer', scratch, load),
        await floor('workflow.state', 'workflow', STATE_KEYS),
        await engine('output.state', 'output', STATE_KEYS),
        await floor('step.state', 'step', STATE_KEYS),
        await engine('each.state', 'step', STATE_KEYS)
      ],
      rounds
    )
    scratch.remove()
    const row = (name: string, of: string, floor: string, target: number | null) =>
      against(name, rateOf(rates, of), { floor: rateOf(rates, floor), target })
    const info = (name: string, of: string) => shown(name, rateOf(rates, of), 'steps/s', 'higher')
    return [
      row('steps.1.output', 'output', 'workflow', 0.6),
      row('steps.1.output.state', 'output.state', 'workflow.state', null),
      row('steps.1.step', 'each', 'step', 0.6),
      row('steps.1.step.state', 'each.state', 'step.state', null),
      info('floor.workflow', 'workflow'),
      info('floor.workflow.state', 'workflow.state'),
      info('floor.step', 'step'),
      info('floor.step.state', 'step.state'),
      info('peer.xstate-level.1', 'peer')
    ]
  }
}
