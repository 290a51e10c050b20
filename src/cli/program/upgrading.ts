import type { Add } from './add.js'

/** Commands for who deploys other code, below `tally upgrade`. */
export function addUpgradeCommands(add: Add): void {
  const check = async () => (await import('../upgrade-check.js')).upgradeCheck
  add('check [config]', 'ask whether each open run can continue with this code', check)
}
