import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { highestRelease, isRelease, VersionTable, versionedName } from '../../../src/core/index.js'
import '../../support/seed.js'

const part = fc.oneof(fc.nat(12).map(String), fc.bigInt(10n ** 16n, 10n ** 24n).map(String))
const core = fc.tuple(part, part, part)
const release = core.map((parts) => parts.join('.'))
const prerelease = fc
  .tuple(release, fc.constantFrom('rc.1', 'alpha', '0', 'x-y.7'))
  .map((parts) => parts.join('-'))
const other = fc.constantFrom('1', '1.0', 'v1.0.0', '01.0.0', '1.0.0.0', '', 'nightly', '1.0.0-')

function greater(one: string, than: string): boolean {
  const [left, right] = [one, than].map((text) => text.split('.').map(BigInt))
  for (const place of [0, 1, 2]) {
    const [a = 0n, b = 0n] = [left?.[place], right?.[place]]
    if (a !== b) return a > b
  }
  return false
}

function tableOf(versions: Iterable<string>): VersionTable<string> {
  const table = new VersionTable<string>()
  for (const version of versions) table.add('pay', version, version)
  return table
}

describe('names with versions', () => {
  it('B10: the highest release is greater than or equal to every other, as numbers', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(release, prerelease, other)), (versions) => {
        const releases = versions.filter(isRelease)
        const highest = highestRelease(versions)
        if (highest === undefined) return releases.length === 0
        return releases.includes(highest) && !releases.some((one) => greater(one, highest))
      })
    )
  })

  it('B10: neither a prerelease nor a text that is no semantic version is ever the highest', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(prerelease, other)), (versions) => {
        expect(highestRelease(versions)).toBeUndefined()
      })
    )
    expect(highestRelease(['1.0.0', '2.0.0-rc.1', '3', '0.9.9'])).toBe('1.0.0')
  })

  it('B10: the order of registration changes nothing', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(release, prerelease, other)), (versions) => {
        const reversed = [...versions].reverse()
        expect(tableOf(versions).resolve('pay')?.version).toBe(
          tableOf(reversed).resolve('pay')?.version
        )
      })
    )
    expect(highestRelease(['1.0.0+b', '1.0.0+a'])).toBe(highestRelease(['1.0.0+a', '1.0.0+b']))
  })

  it('B10: every version is found by its exact name, whatever its text', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(release, prerelease, other, fc.string())), (versions) => {
        const table = tableOf(versions)
        for (const version of versions) {
          expect(table.resolve(`pay@${version}`)?.value).toBe(version)
        }
      })
    )
  })

  it('B10: a name alone leads to its only version, or the highest release, or nowhere', () => {
    expect(tableOf(['nightly']).resolve('pay')?.version).toBe('nightly')
    expect(tableOf(['nightly', '2.0.0-rc.1']).resolve('pay')).toBeUndefined()
    expect(tableOf(['nightly', '2.0.0-rc.1', '1.0.0']).resolve('pay')?.version).toBe('1.0.0')
    expect(tableOf(['1.9.0', '1.10.0']).resolve('pay')?.version).toBe('1.10.0')
    expect(tableOf(['1.0.0']).resolve('card')).toBeUndefined()
  })

  it('B10: what was registered without a version has the name for itself', () => {
    const table = tableOf(['1.0.0', '2.0.0'])
    expect(table.add('pay', undefined, 'plain')).toBe(true)
    expect(table.resolve('pay')?.value).toBe('plain')
    expect(table.add('pay', '1.0.0', 'again')).toBe(false)
  })

  it('B10: a reference is split at its first @', () => {
    expect(versionedName('pay@1.0.0')).toEqual({ name: 'pay', version: '1.0.0' })
    expect(versionedName('pay@a@b')).toEqual({ name: 'pay', version: 'a@b' })
    expect(versionedName('pay')).toEqual({ name: 'pay', version: undefined })
  })
})
