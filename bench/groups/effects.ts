import { present } from '../../src/core/index.js'
import { engineContender, floorContender, type Load } from '../contenders.js'
import type { FloorForm } from '../floor.js'
import type { FloorEffect } from '../floor-effect.js'
import { type Measured, measured, Scratch } from '../measure.js'
import { against, type Group, type Row, shown } from '../row.js'

const alone: Load = { workflows: 100, width: 1 }
const together: Load = { workflows: 640, width: 64 }

/** Workflows of ten steps that each do one sealed read, or one idempotent write. */
export const effects: Group = {
  rows: [
    'reads.1.output',
    'reads.64.output',
    'writes.1.output',
    'writes.64.output',
    'reads.64.cpu',
    'writes.64.cpu',
    'writes.1.cpu',
    'floor.reads.workflow',
    'floor.reads.group',
    'floor.writes.step',
    'floor.writes.group'
  ],
  async measure({ rounds }) {
    const scratch = new Scratch()
    const engine = (name: string, load: Load, effect: FloorEffect) =>
      engineContender(name, scratch, load, { durability: 'output', stateKeys: 0, effect })
    const floor = (name: string, load: Load, form: FloorForm, effect: FloorEffect) =>
      floorContender(name, scratch, load, { form, stateKeys: 0, effect })
    const taken = await measured(
      [
        await floor('floor.reads.workflow', alone, 'workflow', 'read'),
        await engine('reads.1', alone, 'read'),
        await floor('floor.writes.step', alone, 'step', 'write'),
        await engine('writes.1', alone, 'write'),
        await floor('floor.reads.group', together, 'group', 'read'),
        await engine('reads.64', together, 'read'),
        await floor('floor.writes.group', together, 'group', 'write'),
        await engine('writes.64', together, 'write')
      ],
      rounds
    )
    scratch.remove()
    const of = (name: string): Measured => present(taken.get(name), name)
    const row = (name: string, base: string, target: number) =>
      against(`${name}.output`, of(name).rate, { floor: of(base).rate, target })
    const info = (name: string) => shown(name, of(name).rate, 'steps/s', 'higher')
    return [
      row('reads.1', 'floor.reads.workflow', 0.6),
      row('reads.64', 'floor.reads.group', 0.55),
      row('writes.1', 'floor.writes.step', 0.65),
      row('writes.64', 'floor.writes.group', 0.5),
      cpu('reads.64.cpu', of('reads.64'), of('floor.reads.group'), null),
      cpu('writes.64.cpu', of('writes.64'), of('floor.writes.group'), 3),
      cpu('writes.1.cpu', of('writes.1'), of('floor.writes.step'), 3),
      info('floor.reads.workflow'),
      info('floor.reads.group'),
      info('floor.writes.step'),
      info('floor.writes.group')
    ]
  }
}

function cpu(name: string, engine: Measured, floor: Measured, target: number | null): Row {
  const [value, least] = [engine.cpuUs, floor.cpuUs]
  const ratio = value / least
  return { name, value, unit: 'us a step', floor: least, ratio, target, better: 'lower' }
}
