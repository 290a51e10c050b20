/**
 * A chain made under one Node is done again under another, and the other way round (D5): both are
 * given as paths. Packages and intents of examples/02-wallet, from the built command line.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './built.mjs'
import { givenWords } from './words.mjs'

const [one, other] = givenWords('scripts/replay-across.mjs NODE NODE', ({ length }) => length === 2)
const cli = join(root, 'dist', 'src', 'cli', 'main.js')
const example = join(root, 'examples', '02-wallet')
const directory = mkdtempSync(join(tmpdir(), 'tally-across-'))

/** Commands that make a chain with packages, a rollback and a graph of several steps. */
const steps = [
  ['init', '--insecure-plaintext-key'],
  ...['wallet', 'contacts', 'messages'].map((name) => ['install', join(example, 'packages', name)]),
  ...['wallet', 'contacts', 'messages'].map((name) => ['grant', name]),
  ['intent', 'wallet.mintFC', '--payload', '{"amount":"100"}'],
  ['intent', 'contacts.add', '--payload', '{"name":"Alice","account":"alice"}'],
  ['run', join(example, 'graphs', 'simple.yaml')],
  ['run', join(example, 'graphs', 'complex.yaml')]
]

function tally(node, ledger, args) {
  const full = [cli, ...args, '--dir', ledger]
  const ended = spawnSync(node, full, { cwd: directory, encoding: 'utf8' })
  if (ended.status === 0) return ended.stdout
  const told = `${ended.stdout}${ended.stderr}`
  throw new Error(`${args.join(' ')} under ${node}: exit ${ended.status}\n${told}`)
}

try {
  for (const [maker, checker] of [
    [one, other],
    [other, one]
  ]) {
    const ledger = join(directory, maker === one ? 'one' : 'other')
    for (const args of steps) tally(maker, ledger, args)
    const report = tally(checker, ledger, ['verify', '--replay'])
    if (!report.includes('re-executed')) throw new Error(report)
    console.log(`made under ${maker}, done again under ${checker}\n${report}`)
  }
} finally {
  rmSync(directory, { recursive: true })
}
