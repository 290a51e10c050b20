import { execFileSync } from 'node:child_process'
import { link, mkdir, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A directory that may be read, in a world where everything else holds this word: whatever road
 * a document takes to a file, the word must not come out of it.
 */
export const CANARY = 'the-canary-sings'

export interface HostileWorld {
  readonly folder: string
  /** The directory that may be read. */
  readonly root: string
  /** The directory of a ledger, inside the root. */
  readonly ledger: string
  /** A file inside the root that the host has closed. */
  readonly closed: string
}

export async function hostileWorld(): Promise<HostileWorld> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tally-hostile-')))
  const root = join(folder, 'root')
  const ledger = join(root, 'books')
  const closed = join(root, 'settings.txt')
  const secret = async (...names: readonly string[]) => {
    const path = join(folder, ...names)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, CANARY)
    return path
  }
  await mkdir(join(root, 'docs'), { recursive: true })
  await writeFile(join(root, 'docs', 'good.md'), 'good')
  const outside = await secret('outside', 'secret.md')
  await secret('root-2', 'secret.md')
  await secret('root', '.tally', 'keys', 'key.json')
  await secret('root', 'docs', '.env')
  await secret('root', 'docs', 'id_ed25519')
  await secret('root', 'docs', 'server.PEM')
  await secret('root', 'docs', 'credentials.json')
  await secret('root', 'tally.config.ts')
  await secret('root', 'settings.txt')
  await secret('root', 'books', 'keys', 'key.md')
  await secret('root', 'build', 'output.md')
  await secret('root', 'docs', 'draft.md')
  await writeFile(join(ledger, 'marker.json'), '{"format":"tally-ledger","formatVersion":1}\n')
  await writeFile(join(root, '.gitignore'), 'build/\ndraft.*\n')
  const pem = ['-----BEGIN', 'PRIVATE KEY-----'].join(' ')
  await writeFile(join(root, 'docs', 'notes.md'), `${pem}\n${CANARY}\n`)
  await symlink(outside, join(root, 'docs', 'file-link.md'))
  await symlink(join(folder, 'outside'), join(root, 'docs', 'directory-link'))
  await symlink('../.tally', join(root, 'docs', 'hidden-link'))
  await symlink('../books', join(root, 'docs', 'ledger-link'))
  await symlink('../build/output.md', join(root, 'docs', 'ignored-link.md'))
  await symlink('loop', join(root, 'docs', 'loop'))
  await symlink('/dev/zero', join(root, 'docs', 'device.md'))
  await link(closed, join(root, 'docs', 'closed-again.txt'))
  execFileSync('mkfifo', [join(root, 'docs', 'pipe.md')])
  return { folder, root, ledger, closed }
}

/** Paths below the root of a hostile world, none of which may be read, and why. */
export function hostilePaths({ folder }: HostileWorld): readonly (readonly [string, string])[] {
  return [
    [`${folder}/outside/secret.md`, 'outside_root'],
    [`${folder}/root/docs/good.md`, 'outside_root'],
    ['../outside/secret.md', 'outside_root'],
    ['../root-2/secret.md', 'outside_root'],
    ['docs/../../outside/secret.md', 'outside_root'],
    ['docs/../docs/good.md', 'outside_root'],
    ['~/secret.md', 'outside_root'],
    ['%2e%2e/outside/secret.md', 'not_found'],
    ['..%2foutside%2fsecret.md', 'hidden'],
    ['docs%2fdraft.md', 'not_found'],
    ['..\\outside\\secret.md', 'not_plain'],
    ['C:secret.md', 'not_plain'],
    ['docs/good.md\0.txt', 'not_plain'],
    ['docs\n/good.md', 'not_plain'],
    ['docs//good.md', 'not_plain'],
    ['docs./good.md', 'not_plain'],
    ['docs/good.md.', 'not_plain'],
    ['docs/good.md ', 'not_plain'],
    [`${'docs/'.repeat(300)}good.md`, 'not_plain'],
    ['docs/file-link.md', 'outside_root'],
    ['docs/directory-link/secret.md', 'outside_root'],
    ['docs/hidden-link/keys/key.json', 'hidden'],
    ['docs/ledger-link/keys/key.md', 'closed'],
    ['docs/ignored-link.md', 'ignored'],
    ['docs/loop', 'not_found'],
    ['.tally/keys/key.json', 'hidden'],
    ['.TALLY/keys/key.json', 'hidden'],
    ['docs/.env', 'hidden'],
    ['docs/id_ed25519', 'credentials'],
    ['docs/server.PEM', 'credentials'],
    ['docs/credentials.json', 'credentials'],
    ['docs/notes.md', 'credentials'],
    ['tally.config.ts', 'credentials'],
    ['settings.txt', 'closed'],
    ['docs/closed-again.txt', 'closed'],
    ['books/keys/key.md', 'closed'],
    ['build/output.md', 'ignored'],
    ['docs/draft.md', 'ignored'],
    ['docs/device.md', 'outside_root'],
    ['docs/pipe.md', 'not_regular'],
    ['docs', 'not_regular'],
    ['docs/good.md/more', 'not_found'],
    ['docs/absent.md', 'not_found']
  ]
}
