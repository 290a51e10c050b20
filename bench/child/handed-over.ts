/**
 * A service that takes runs over its owner socket, and hands its ledger over when the next one asks
 * for it. Says `opened` once it has the ledger.
 */
import { createRuntime } from '../../src/index.js'
import { step } from '../hand-over-step.js'

const [location = ''] = process.argv.slice(2)
// A service has a server, which keeps its process alive.
setInterval(() => undefined, 60_000)
await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  blocks: [step],
  handOver: { onHandOver: (released) => void released.then(() => process.exit(0)) }
})
process.stdout.write('opened\n')
