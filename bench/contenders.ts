import { Engine, type EngineOptions, STEPS } from './engine.js'
import { Floor, type FloorOptions } from './floor.js'
import { type Contender, inParallel, type Scratch } from './measure.js'
import { SnapshotPeer } from './peer.js'

/** How much work a contender does in a round. */
export interface Load {
  readonly workflows: number
  /** Workflows at once. */
  readonly width: number
}

export async function engineContender(
  name: string,
  scratch: Scratch,
  load: Load,
  options: Omit<EngineOptions, 'path'>
): Promise<Contender> {
  const engine = await Engine.open({ ...options, path: scratch.directory() })
  return {
    name,
    run: () => engine.workflows(load.workflows, load.width),
    close: () => engine.close()
  }
}

export async function floorContender(
  name: string,
  scratch: Scratch,
  load: Load,
  options: FloorOptions
): Promise<Contender> {
  return looped(name, load, await Floor.open({ ...options, path: scratch.directory() }))
}

export async function peerContender(
  name: string,
  scratch: Scratch,
  load: Load
): Promise<Contender> {
  return looped(name, load, await SnapshotPeer.open(scratch.directory()))
}

function looped(
  name: string,
  { workflows, width }: Load,
  runner: { workflow(index: number): Promise<void>; close(): Promise<void> }
): Contender {
  let first = 0
  return {
    name,
    run: async () => {
      const from = first
      first += workflows
      await inParallel(workflows, width, (index) => runner.workflow(from + index))
      return workflows * STEPS
    },
    close: () => runner.close()
  }
}
