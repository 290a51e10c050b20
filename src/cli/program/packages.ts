import { type Add, configOption } from './add.js'

/** Commands that make packages, below `tally package`. */
export function addPackageMaking(add: Add): void {
  const pack = async () => (await import('../package-pack.js')).packPackage
  add('pack <directory>', 'bundle a package and tell its code hash', pack).option(
    '-o, --output <file>',
    'where to write the packed package'
  )
}

/** Commands about installed packages, and text that is turned into intents. */
export function addPackageCommands(add: Add): void {
  const loaded = () => import('../install.js')
  add('install <path>', 'install a package', async () => (await loaded()).install).option(
    ...configOption
  )
  add(
    'uninstall <package>',
    'take a package and its grants away',
    async () => (await loaded()).uninstall
  ).option(...configOption)
  add('packages', 'list the packages', async () => (await import('../packages.js')).packages)
  add('ask <text>', 'say in words what is to be done', async () => (await import('../ask.js')).ask)
    .option('--yes', 'do it without asking')
    .option('--provider <name>', 'AI provider that is asked')
    .option('--id <id>', 'names it; the same id is the same work')
    .option(...configOption)
}
