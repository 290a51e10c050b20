import type { Add } from './add.js'

/** Commands that make packages, below `tally package`. */
export function addPackageMaking(add: Add): void {
  const pack = async () => (await import('../package-pack.js')).packPackage
  add('pack <directory>', 'bundle a package and tell its code hash', pack).option(
    '-o, --output <file>',
    'where to write the packed package'
  )
}
