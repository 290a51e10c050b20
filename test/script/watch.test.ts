import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFile } from '../support/built.js'
import { Project } from '../support/project.js'

/** `tally watch` on ledgers that come and go, as a process: signals, pipes and terminals. */

let project: Project
beforeAll(async () => {
  project = await Project.create()
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
  expect((await project.tally(['run', 'ask.yaml', '--id', 'before'])).code).toBe(4)
})
afterAll(() => project.remove())

/** Runs a command on a terminal of its own, and presses keys once it has said something. */
const onTerminal = `
import os, pty, select, sys
until, keys, argv = sys.argv[1].encode(), sys.argv[2].encode(), sys.argv[3:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(argv[0], argv)
said, pressed = b'', False
while True:
    try:
        more = os.read(fd, 65536)
    except OSError:
        break
    if not more:
        break
    said += more
    if until in said and not pressed:
        pressed = True
        os.write(fd, keys)
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

async function pressed(until: string, keys: string) {
  const words = [process.execPath, builtFile('cli/main.js'), 'watch']
  const { NO_COLOR: _, ...rest } = process.env
  const child = spawn('python3', ['-c', onTerminal, until, keys, ...words], {
    cwd: project.folder,
    env: { ...rest, TERM: 'xterm' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8')
  })
  const [code] = await once(child, 'close')
  return { code: code as number, said }
}

describe('tally watch', () => {
  it('gives a line for each change, over the holders of the ledger, until it is stopped', async () => {
    const watch = project.start(['watch', '--json'])
    await watch.says('"mode":"ready"')
    const holder = project.start(['run', 'ask.yaml', '--id', 'asked', '--wait', '--json'])
    await watch.says('"change":"waiting"')
    expect((await project.tally(['resume', 'asked', '--value', '1'])).code).toBe(0)
    await holder.ended
    await watch.says('"change":"done"')
    expect((await project.tally(['run', 'fail.yaml', '--id', 'fails'])).code).toBe(1)
    await watch.says('"change":"failed"')
    watch.child.kill('SIGTERM')
    const { code, documents, stderr } = await watch.ended
    expect({ code, stderr }).toEqual({ code: 143, stderr: '' })
    // What was open is said first, and is no change.
    expect(documents[0]).toMatchObject({
      $type: 'open',
      run: { id: 'before', status: 'waiting', waits: [{ reason: 'external' }] }
    })
    const changes = documents.filter(({ $type }) => $type === 'change')
    const told = changes.map(({ change, run }) => [change, (run as { readonly id: string }).id])
    expect(told.filter(([change]) => change !== 'started' && change !== 'running')).toEqual([
      ['waiting', 'asked'],
      ['done', 'asked'],
      ['failed', 'fails']
    ])
    expect(changes.at(-1)).toMatchObject({
      run: { failure: 'no_luck', step: { path: 'root/first', step: 1, attempt: 1 } }
    })
  })

  it('ends when its reader goes away', async () => {
    const watch = project.start(['watch', '--json'])
    watch.child.stdout?.destroy()
    expect(await watch.ended).toMatchObject({ code: 141, stderr: '' })
  })

  it('is a table on a terminal, which q and Ctrl-C give back', async () => {
    const [ended, interrupted] = await Promise.all([
      pressed('before', 'q'),
      pressed('before', '\u0003')
    ])
    expect([ended.code, interrupted.code]).toEqual([0, 130])
    for (const { said } of [ended, interrupted]) {
      expect(said).toContain('how many?')
      expect(said.endsWith('\u001b[?1049l')).toBe(true)
    }
  })

  it('refuses what is no ledger', async () => {
    const { code, stderr } = await project.tally(['watch', '--dir', 'nowhere'])
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ledger.not_found')
    })
  })
})
