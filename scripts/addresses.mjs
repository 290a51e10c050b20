/**
 * The addresses of the package, which are those of its repository: npm takes them from
 * `package.json`, and only git knows them, so that they are written there when it is packed.
 *
 *   node scripts/addresses.mjs     puts the file back that was there before
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root as here } from './built.mjs'

/**
 * `repository`, `homepage` and `bugs` of a package that is kept at a remote of git, without what
 * the remote has to log in; undefined for one that is a path, or on a host without a domain.
 */
export function addressesOf(remote) {
  const short = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)([^\\]+)$/.exec(remote)
  const whole = /^(?:https?|ssh|git|git\+https|git\+ssh):\/\/(?:[^@/]*@)?([\w.-]+)(?::\d+)?\/(.+)$/
  const [, host = '', path = ''] = short ?? whole.exec(remote) ?? []
  const name = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')
  const isPublic = /\.[a-z]{2,}$/i.test(host) && /^[\w.~-]+(?:\/[\w.~-]+)+$/.test(name)
  if (!isPublic) return undefined
  const address = `https://${host}/${name}`
  return {
    repository: { type: 'git', url: `git+${address}.git` },
    homepage: address,
    bugs: { url: `${address}/issues` }
  }
}

/** Writes the addresses into the `package.json` there, unless it says them; whether it has them. */
export function addAddresses(root) {
  const file = join(root, 'package.json')
  const text = readFileSync(file, 'utf8')
  const { name, version, description, license, ...rest } = JSON.parse(text)
  if (rest.repository !== undefined) return true
  // Its own repository, not one around it.
  const words = ['--git-dir', join(root, '.git'), 'remote', 'get-url', 'origin']
  const { stdout } = spawnSync('git', words, { encoding: 'utf8' })
  const addresses = addressesOf(stdout?.trim() ?? '')
  if (addresses === undefined) return false
  mkdirSync(dirname(before(root)), { recursive: true })
  writeFileSync(before(root), text)
  const manifest = { name, version, description, license, ...addresses, ...rest }
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
  return true
}

/** Puts back what {@link addAddresses} has changed. */
export function removeAddresses(root) {
  if (existsSync(before(root))) renameSync(before(root), join(root, 'package.json'))
}

function before(root) {
  return join(root, 'dist', 'package.json')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) removeAddresses(here)
