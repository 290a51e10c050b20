import type { FuzzTarget } from './target.js'
import { bridgeTargets } from './targets/bridge.js'
import { consoleTargets } from './targets/console.js'
import { documentTargets } from './targets/documents.js'
import { exchangeTargets } from './targets/exchange.js'
import { functionTargets } from './targets/functions.js'
import { jsonTargets } from './targets/json.js'
import { ledgerTargets } from './targets/ledger.js'
import { openingTargets } from './targets/opening.js'
import { serverTargets } from './targets/servers.js'
import { solanaTargets } from './targets/solana.js'
import { verificationTargets } from './targets/verification.js'
import { workTargets } from './targets/work.js'

/** Every reader and decoder of bytes from outside, by name. */
export const targets: Readonly<Record<string, FuzzTarget>> = {
  ...jsonTargets,
  ...documentTargets,
  ...ledgerTargets,
  ...exchangeTargets,
  ...verificationTargets,
  ...openingTargets,
  ...functionTargets,
  ...serverTargets,
  ...solanaTargets,
  ...bridgeTargets,
  ...consoleTargets,
  ...workTargets
}
