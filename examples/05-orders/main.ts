import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { play } from './play.js'

/**
 * A shop under load whose service is killed and deployed meanwhile. `npm run example 05-orders`,
 * or with numbers of orders, kills and deploys: `npm run example 05-orders -- 1000 50 2`
 */
const [orders = 40, kills = 4, deploys = 2] = process.argv.slice(2).map(Number)
const folder = await mkdtemp(join(tmpdir(), 'tally-orders-'))
try {
  const location = join(folder, 'ledger')
  await mkdir(location)
  console.log(`${orders} orders, ${kills} kills with SIGKILL, ${deploys} deploys with changed code`)
  const outcome = await play({ location, orders, kills, deploys, random: Math.random })
  const { accepted, lost, wronglyCharged, declined, verified } = outcome
  console.log(`accepted ${accepted}, lost ${lost.length}, declined ${declined}`)
  console.log(`charged otherwise than once: ${wronglyCharged.length}`)
  console.log(verified.line)
  const isSound = lost.length === 0 && wronglyCharged.length === 0 && verified.ok
  process.exitCode = isSound ? 0 : 1
} finally {
  await rm(folder, { recursive: true, force: true })
}
