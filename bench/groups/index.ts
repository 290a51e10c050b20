import type { Group } from '../row.js'
import { agents } from './agents.js'
import { alone } from './alone.js'
import { archiving } from './archiving.js'
import { atomic } from './atomic.js'
import { chain } from './chain.js'
import { chains } from './chains.js'
import { consoleGroup } from './console.js'
import { effects } from './effects.js'
import { flows } from './flows.js'
import { growth } from './growth.js'
import { handOver } from './hand-over.js'
import { install } from './install.js'
import { intents } from './intents.js'
import { machine } from './machine.js'
import { page } from './page.js'
import { parked } from './parked.js'
import { plans } from './plans.js'
import { reading } from './reading.js'
import { resume } from './resume.js'
import { rollback } from './rollback.js'
import { services } from './services.js'
import { signing } from './signing.js'
import { simulation } from './simulation.js'
import { tenants } from './tenants.js'
import { together } from './together.js'
import { workflowWaits } from './workflow-waits.js'
import { workflows } from './workflows.js'

/** By the names of their modules, in the order in which they run. */
export const groups: Readonly<Record<string, Group>> = {
  together,
  alone,
  effects,
  atomic,
  rollback,
  signing,
  growth,
  archiving,
  reading,
  resume,
  parked,
  services,
  'hand-over': handOver,
  tenants,
  plans,
  intents,
  agents,
  flows,
  workflows,
  'workflow-waits': workflowWaits,
  chain,
  chains,
  console: consoleGroup,
  page,
  install,
  machine,
  simulation
}
