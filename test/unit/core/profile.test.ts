import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NODE_VERSION_MIN, nodeProblem } from '../../../src/core/profile.js'
import { filesBelow, root } from '../../support/source.js'

describe('a Node that is too old', () => {
  it('is told in one sentence, and only it', () => {
    const old = ['16.20.2', '18.19.1', '20.0.0', '20.18.3']
    expect(old.map(nodeProblem)).toEqual(
      old.map((one) => `tallystick needs Node 20.19 or newer; this is Node ${one}.`)
    )
    const good = ['20.19.0', '20.20.2', '22.0.0', '24.1.0', '100.0.0']
    expect(good.map(nodeProblem)).toEqual(good.map(() => undefined))
  })

  it('is the one that the manifest names', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(manifest.engines.node).toBe(`>=${NODE_VERSION_MIN}`)
  })

  it('can load every module: what Node 18 lacks is imported by no name', () => {
    const lacking = /import \{[^}]*\b(hash|crc32)\b[^}]*\} from 'node:(crypto|zlib)'/
    const offenders = filesBelow('src', ['.ts']).filter((path) =>
      lacking.test(readFileSync(join(root, path), 'utf8'))
    )
    expect(offenders).toEqual([])
  })

  it('is told by the command line before another module is loaded', () => {
    const main = readFileSync(join(root, 'src/cli/main.ts'), 'utf8')
    const imported = [...main.matchAll(/^import .* from '(.*)'/gm)].map(([, from]) => from)
    expect(imported).toEqual(['node:fs'])
  })
})
