import type { Runtime } from '../../../src/index.js'

export function keyInForce(tally: Runtime): Promise<string>
