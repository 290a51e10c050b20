import { lstat, readFile, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Whose eyes the owners of files are looked at with. */
export interface Viewer {
  /** Undefined where the system has no such users. */
  readonly user: number | undefined
  /** Files that say who is in which group; those of the system by default. */
  readonly passwd?: string
  readonly group?: string
}

/**
 * Why another user could have written a configuration, for people; undefined when none could. It is
 * code that runs with all rights of this user, so the file, the link that leads to it, and the
 * directories of both belong to this user or the superuser, and no other may write to them.
 */
export async function writerProblem(
  path: string,
  viewer: Viewer = { user: process.getuid?.() }
): Promise<string | undefined> {
  if (viewer.user === undefined) return undefined
  const real = await realpath(path)
  for (const one of new Set([path, dirname(path), real, dirname(real)])) {
    const problem = await problemOf(one, viewer)
    if (problem !== undefined) return problem
  }
  return undefined
}

async function problemOf(path: string, viewer: Viewer): Promise<string | undefined> {
  const { user } = viewer
  const status = await lstat(path)
  const { uid, gid, mode } = status
  if (uid !== user && uid !== SUPERUSER) return `${path} belongs to user ${uid}`
  // The mode of a link means nothing, and under a sticky directory only owners replace files.
  if (status.isSymbolicLink() || (status.isDirectory() && (mode & STICKY) !== 0)) return undefined
  const shown = `(mode ${(mode & 0o7777).toString(8).padStart(4, '0')})`
  if ((mode & WRITABLE_BY_ALL) !== 0) return `every user can write to ${path} ${shown}`
  if ((mode & WRITABLE_BY_GROUP) === 0 || (await isOwnGroup(gid, viewer))) return undefined
  return `group ${gid} can write to ${path} ${shown}`
}

const SUPERUSER = 0
const STICKY = 0o1000
const WRITABLE_BY_GROUP = 0o020
const WRITABLE_BY_ALL = 0o002

/**
 * Whether a group has no member but this user: many systems give each user such a group, and make
 * new files writable for it. What the system's files do not show counts as a member.
 */
async function isOwnGroup(gid: number, viewer: Viewer): Promise<boolean> {
  const { user, passwd = '/etc/passwd', group = '/etc/group' } = viewer
  const users = await fieldsOf(passwd)
  const name = users.find(([, , uid]) => uid === `${user}`)?.[0]
  const named = (await fieldsOf(group)).find(([, , id]) => id === `${gid}`)
  if (name === undefined || named === undefined) return false
  const members = (named[3] ?? '').split(',').filter((one) => one !== '')
  const primary = users.filter(([, , , id]) => id === `${gid}`).map(([one]) => one)
  return primary.includes(name) && [...members, ...primary].every((one) => one === name)
}

async function fieldsOf(path: string): Promise<readonly (readonly string[])[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').map((line) => line.split(':'))
}
