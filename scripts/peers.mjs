/**
 * `node scripts/peers.mjs [NAME...]`: runs the tests of an optional peer against the other ends of
 * the range that `package.json` names; the end that is installed is what all tests run with. Each
 * name is a line of `test/peers/ends.json`: packages with their versions, and tests. The packages
 * stand in a copy of the checkout, so that what is built finds them too. Where a version needs a
 * newer Node, its line says so, and it is left out unless it is named. Needs `dist`.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from './built.mjs'
import { givenWords } from './words.mjs'

const ends = JSON.parse(readFileSync(join(root, 'test', 'peers', 'ends.json'), 'utf8'))
const usage = `scripts/peers.mjs [${Object.keys(ends).join('|')}]...`
const given = givenWords(usage, (words) => words.every((word) => Object.hasOwn(ends, word)))
const major = Number(process.versions.node.split('.')[0])
const names = Object.keys(ends).filter((name) =>
  given.length === 0 ? (ends[name].node ?? 0) <= major : given.includes(name)
)
const temporary = mkdtempSync(join(tmpdir(), 'tally-peers-'))
let failed = 0
for (const name of names) {
  const { packages, tests } = ends[name]
  const versions = Object.entries(packages).map(([peer, version]) => `${peer}@${version}`)
  console.log(`--- ${versions.join(' ')}`)
  const copy = copied(name)
  replace(name, copy, Object.keys(packages), versions)
  const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs')
  const words = [vitest, 'run', '--reporter=dot', ...tests]
  const { status } = spawnSync(process.execPath, words, { cwd: copy, stdio: 'inherit' })
  if (status !== 0) failed += 1
  rmSync(copy, { recursive: true })
}
rmSync(temporary, { recursive: true })
console.log(`peers: ${names.length - failed} ok, ${failed} not ok`)
process.exitCode = failed === 0 ? 0 : 1

/** A copy of what tests read; its files of packages are the same files. */
function copied(name) {
  const copy = join(temporary, name)
  mkdirSync(copy)
  const words = ['-al', ...readdirSync(root).filter((file) => file !== '.git'), copy]
  const { status } = spawnSync('cp', words, { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error('the checkout cannot be copied')
  return copy
}

/** Puts packages in the place of those that are there, each with all that was installed with it. */
function replace(name, copy, peers, versions) {
  const from = join(temporary, `${name}-packages`)
  mkdirSync(from)
  const words = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', from, ...versions]
  const { status, stderr } = spawnSync('npm', words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm cannot install ${versions.join(' ')}: ${stderr}`)
  const installed = join(from, 'node_modules')
  for (const peer of peers) {
    const place = join(copy, 'node_modules', peer)
    rmSync(place, { recursive: true })
    cpSync(join(installed, peer), place, { recursive: true })
    for (const other of packagesIn(installed).filter((one) => one !== peer)) {
      const nested = join(place, 'node_modules', other)
      if (existsSync(nested)) continue
      mkdirSync(dirname(nested), { recursive: true })
      cpSync(join(installed, other), nested, { recursive: true })
    }
  }
  rmSync(from, { recursive: true })
}

function packagesIn(folder) {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(folder, name)).map((one) => `${name}/${one}`) : [name]
    )
}
