import { type Add, configOption } from './add.js'

/** Commands for who deploys other code, below `tally upgrade`. */
export function addUpgradeCommands(add: Add): void {
  const check = async () => (await import('../upgrade-check.js')).upgradeCheck
  add('check [config]', 'ask whether each open run can continue with this code', check)
}

/** Commands that hold code to what it has done, below `tally test`. */
export function addTestCommands(add: Add): void {
  const from = async () => (await import('../test-from.js')).testFrom
  add('from <run>', 'write a test that does a run again with this code', from)
    .option('--out <file>', 'where to write it; its recording is written beside it')
    .option('--force', 'write over files that are there')
    .option('--private', 'also a run with what is declared private')
    .option(...configOption)
}
