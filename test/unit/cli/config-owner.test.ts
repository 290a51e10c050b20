import { chmod, lchown, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/cli/frame/config.js'
import { writerProblem } from '../../../src/cli/frame/config-owner.js'
import { createFrame } from '../../../src/cli/frame/frame.js'

const user = process.getuid?.() ?? 0
const group = process.getgid?.() ?? 0
const isSuperuser = user === 0
const OTHER_USER = 65_534

let folder: string
let path: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'tally-owner-')))
  await mkdir(join(folder, 'package'), { mode: 0o755 })
  path = join(folder, 'package', 'tally.config.json')
  await writeFile(path, '{}', { mode: 0o644 })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const silent = { write: () => true }
const frame = () =>
  createFrame({}, { stdout: silent, stderr: silent, environment: {}, cwd: join(folder, 'package') })

/** Files that say who there is, with these members of the group of this process. */
async function viewer(members: string, others = '') {
  const passwd = join(folder, 'passwd')
  const groups = join(folder, 'group')
  await writeFile(passwd, `me:x:${user}:${group}::/:/bin/sh\n${others}`)
  await writeFile(groups, `some:x:${group + 1}:\nmine:x:${group}:${members}\n`)
  return { user, passwd, group: groups }
}

describe('a configuration', () => {
  it('that only this user can write is loaded', async () => {
    expect(await writerProblem(path)).toBeUndefined()
    expect(await loadConfig(frame(), path)).toEqual({})
    await chmod(join(folder, 'package'), 0o1777)
    expect(await writerProblem(path)).toBeUndefined()
  })

  it.each([
    ['the file', 'package/tally.config.json', 0o666, 'every user'],
    ['the directory', 'package', 0o777, 'every user'],
    ['the file', 'package/tally.config.json', 0o664, 'group'],
    ['the directory', 'package', 0o775, 'group']
  ])('is refused when %s %s has mode %o: %s can write', async (_what, name, mode, writer) => {
    await chmod(join(folder, name), mode)
    const text = `(mode ${mode.toString(8).padStart(4, '0')})`
    const strange = { ...(await viewer('me,friend')) }
    const problem = await writerProblem(path, strange)
    expect(problem).toContain(join(folder, name))
    expect(problem).toContain(writer)
    expect(problem).toContain(text)
    if (writer !== 'every user') return
    await expect(loadConfig(frame(), path)).rejects.toMatchObject({
      code: 'cli.unsafe_config',
      context: { path, problem }
    })
  })

  it('may be writable for a group that has no other member', async () => {
    await chmod(path, 0o664)
    const writable = async (members: string, others?: string) =>
      (await writerProblem(path, await viewer(members, others))) === undefined
    expect(await writable('')).toBe(true)
    expect(await writable('me')).toBe(true)
    expect(await writable('me,friend')).toBe(false)
    expect(await writable('', `friend:x:4711:${group}::/:/bin/sh\n`)).toBe(false)
    const unknown = { user, passwd: join(folder, 'none'), group: join(folder, 'none') }
    expect(await writerProblem(path, unknown)).toContain('group')
  })

  it('is refused when file, link or directory belong to another user', async () => {
    expect(await writerProblem(path, { user: user + 1 })).toBe(
      // The superuser may have written everything anyway.
      isSuperuser ? undefined : `${path} belongs to user ${user}`
    )
    const link = join(folder, 'tally.config.json')
    await symlink(path, link)
    expect(await writerProblem(link)).toBeUndefined()
    await chmod(path, 0o666)
    expect(await writerProblem(link)).toContain(path)
    await chmod(path, 0o644)
    await chmod(join(folder, 'package'), 0o777)
    expect(await writerProblem(link)).toContain(`${join(folder, 'package')} (mode`)
    // Only the superuser gives files away.
    if (!isSuperuser) return
    await chmod(join(folder, 'package'), 0o755)
    for (const one of [path, join(folder, 'package'), link]) {
      await lchown(one, OTHER_USER, group)
      expect(await writerProblem(link)).toBe(`${one} belongs to user ${OTHER_USER}`)
      await expect(loadConfig(frame(), link)).rejects.toMatchObject({ code: 'cli.unsafe_config' })
      await lchown(one, user, group)
    }
    expect(await writerProblem(link)).toBeUndefined()
  })
})
