import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../support/effort.js'
import { documentOf, Project } from '../support/project.js'

/**
 * What another user of the machine can do to this one. The superuser, as whom containers run tests,
 * plays both: commands are those of a user without rights, and directories are given to a third.
 * Anyone else cannot give directories away, and leaves them open to all instead.
 */
const isSuperuser = process.getuid?.() === 0
const USER = isSuperuser ? 65_534 : (process.getuid?.() ?? 0)
const STRANGER = 65_533
const asUser = isSuperuser ? { uid: USER } : {}

let project: Project
let shared: string
let environment: Readonly<Record<string, string>>
beforeAll(async () => {
  project = await Project.create()
  shared = await realpath(await mkdtemp(join(tmpdir(), 'tally-shared-')))
  await chmod(shared, 0o1777)
  const home = join(shared, 'home')
  await mkdir(home)
  if (isSuperuser) {
    await chown(home, USER, USER)
    execFileSync('chown', ['-R', `${USER}:${USER}`, project.folder])
  }
  environment = { TMPDIR: shared, HOME: home }
})
afterAll(async () => {
  await project.remove()
  await rm(shared, { recursive: true, force: true })
})

const tally = (...words: readonly string[]) => project.tally(words, { ...asUser, environment })

describe('another user', () => {
  it('stops no command by making the runtime directory first', async () => {
    const taken = join(shared, `tallystick-${USER}`)
    await mkdir(taken, { mode: 0o700 })
    if (isSuperuser) await chown(taken, STRANGER, STRANGER)
    else await chmod(taken, 0o777)
    const made = await tally('init', '--insecure-plaintext-key')
    expect(made).toMatchObject({ code: 0 })
    const run = await tally('run', 'greet.yaml', '--id', 'first')
    expect(run).toMatchObject({ code: 0 })
    expect(run.stderr).toContain(`the runtime directory ${taken} is not used: `)
    if (isSuperuser) expect(run.stderr).toContain(`it belongs to user ${STRANGER} (mode 0700)`)
    const doctor = await tally('doctor')
    expect(doctor.stdout).toContain(`${taken} is not used`)
    expect(await tally('verify')).toMatchObject({ code: 0 })
  })

  if (isLong) {
    it('has no configuration loaded', async () => {
      const config = project.path('tally.config.ts')
      await chmod(config, 0o666)
      const open = await tally('run', 'greet.yaml', '--json')
      expect(open.code).not.toBe(0)
      expect(documentOf(open, 'error')).toMatchObject({ code: 'cli.unsafe_config' })
      expect(String(documentOf(open, 'error')['message'])).toContain('(mode 0666)')
      await chmod(config, 0o644)
      expect(await tally('run', 'greet.yaml', '--id', 'second')).toMatchObject({ code: 0 })
      if (!isSuperuser) return
      await chown(config, STRANGER, STRANGER)
      const strange = await tally('run', 'greet.yaml', '--json')
      expect(documentOf(strange, 'error')).toMatchObject({ code: 'cli.unsafe_config' })
      expect(String(documentOf(strange, 'error')['message'])).toContain(`user ${STRANGER}`)
      const named = await tally('lint', 'greet.yaml', '--config', 'tally.config.ts', '--json')
      expect(documentOf(named, 'error')).toMatchObject({ code: 'cli.unsafe_config' })
    })
  }
})
