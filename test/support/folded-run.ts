import type { PumpCommand } from '../../src/block/chart/protocol.js'
import { type FoldDelivery, type FoldOptions, RunFold } from '../../src/block/replay/fold.js'

/** All asks of a run, in order. */
export function foldRun(
  root: ConstructorParameters<typeof RunFold>[0],
  deliveries: Iterable<FoldDelivery>,
  options: FoldOptions
): readonly PumpCommand[] {
  const fold = new RunFold(root, options)
  return [...deliveries].flatMap((delivery) => fold.deliver(delivery))
}
