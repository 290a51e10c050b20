import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../support/effort.js'
import { type PackedPackage, packPackage, runIn } from '../support/packed-package.js'
import { documentOf, Project } from '../support/project.js'
import { fileOf, snippetsOf } from '../support/snippets.js'
import { root } from '../support/source.js'

/** `tally new`, from the packed package to a service that is killed. */

const typescript = join(root, 'node_modules/typescript/bin/tsc')

describe('tally new', () => {
  let project: Project
  beforeAll(async () => {
    project = await Project.create()
  })
  afterAll(() => project.remove())

  it('refuses a directory that is not empty, and changes nothing in it', async () => {
    mkdirSync(project.path('taken'))
    writeFileSync(project.path('taken/README.md'), 'mine')
    const refused = await project.tally(['new', 'taken', '--json'])
    expect(refused.code).toBe(2)
    expect(documentOf(refused, 'error')).toMatchObject({ code: 'cli.directory_not_empty' })
    expect(readFileSync(project.path('taken/README.md'), 'utf8')).toBe('mine')
  })

  it('refuses a name that npm would refuse', async () => {
    const refused = await project.tally(['new', 'My Shop', '--json'])
    expect(documentOf(refused, 'error')).toMatchObject({ code: 'cli.usage' })
  })

  it('asks for the versions that this repository is tested with', async () => {
    const made = await project.tally(['new', 'ranges', '--json'])
    expect(documentOf(made, 'new')).toMatchObject({ directory: project.path('ranges') })
    const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const tested = { ...own.dependencies, ...own.devDependencies, tallystick: own.version }
    const manifest = JSON.parse(readFileSync(project.path('ranges/package.json'), 'utf8'))
    const asked = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(asked.length).toBeGreaterThan(5)
    expect(asked).toEqual(asked.map(([name]) => [name, `^${tested[name]}`]))
    expect(manifest.name).toBe('ranges')
  })
})

describe('the service that it writes, from the packed package', () => {
  let packed: PackedPackage
  let application: string
  let service: string
  const started: ChildProcess[] = []

  beforeAll(() => {
    packed = packPackage()
    const tools = ['fastify', 'zod', 'vitest', 'typescript', '@types/node', 'undici-types']
    application = packed.installWith([...Object.keys(packed.manifest.dependencies), ...tools])
    service = join(application, 'shop')
    // The package that `npm create tallystick` starts.
    const creator = join(application, 'node_modules/create-tallystick')
    cpSync(join(root, 'create-tallystick'), creator, { recursive: true })
    runIn(application, [join(creator, 'main.js'), 'shop'])
    // What the scripts of the service start.
    symlinkSync(join(application, 'node_modules'), join(service, 'node_modules'))
    runIn(service, [typescript, '-p', 'tsconfig.build.json'])
  })

  afterAll(() => {
    for (const child of started) child.kill('SIGKILL')
    packed.remove()
  })

  it('is of one version with the package that creates it', () => {
    const creator = JSON.parse(readFileSync(join(root, 'create-tallystick/package.json'), 'utf8'))
    const { version } = packed.manifest
    expect(creator).toMatchObject({ version, dependencies: { tallystick: version } })
  })

  it('has right types, and its own test passes, as does that of docs/recipes/vitest.md', () => {
    for (const snippet of snippetsOf('docs/recipes/vitest.md')) {
      writeFileSync(join(service, 'test', fileOf(snippet) ?? 'none.ts'), snippet.text)
    }
    const checked = spawnSync(process.execPath, [typescript], { cwd: service, encoding: 'utf8' })
    expect(checked.stdout).toBe('')
    const environment = { ...process.env, VITEST: undefined, NODE_OPTIONS: '' }
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const said = execFileSync(process.execPath, [vitest, 'run'], {
      cwd: service,
      env: { ...environment, NO_COLOR: '1' },
      encoding: 'utf8'
    })
    expect(said).toMatch(/Tests +2 passed/)
  })

  it('answers an order over HTTP, is killed with SIGKILL, continues, and has charged once', async () => {
    const first = await startService()
    const order = { item: 'lamp', cents: 1200 }
    const accepted = await request(first.url, 'PUT', order)
    expect([accepted.status, await accepted.json()]).toEqual([202, { id: 'o-1', isNew: true }])
    await until(first.url, ({ progress }) => progress === 'packing')
    const killed = once(first.child, 'close')
    first.child.kill('SIGKILL')
    await killed

    const second = await startService()
    const done = await until(second.url, ({ status }) => status === 'done')
    expect(done).toEqual({ id: 'o-1', status: 'done', progress: 'shipped' })
    const again = await request(second.url, 'PUT', order)
    expect(await again.json()).toEqual({ id: 'o-1', isNew: false })
    expect(`${first.said()}${second.said()}`.match(/charged/g)).toHaveLength(1)
    second.child.kill('SIGTERM')
    expect(await once(second.child, 'close')).toEqual([0, null])
    const main = join(application, 'node_modules/tallystick/dist/src/cli/main.js')
    expect(runIn(service, [main, 'verify', '--dir', 'ledger'])).toContain('chain ok')
  })

  // It compiles three times over.
  if (isLong) {
    it('is started again by `npm run dev` when a file changes', async () => {
      const { child, says } = await startService('dev.mjs')
      appendFileSync(join(service, 'src/main.ts'), "console.log('changed')\n")
      await says(/changed/)
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      await closed
    })
  }

  /** Starts the compiled service, or what is named, and waits until it listens. */
  async function startService(program = 'dist/main.js') {
    const child = spawn(process.execPath, [program], {
      cwd: service,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0' }
    })
    started.push(child)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk
      })
    }
    const says = async (words: RegExp) => {
      while (!words.test(said)) {
        if (child.exitCode !== null) throw new Error(said)
        await Promise.race([once(child.stdout, 'data'), once(child, 'close')])
      }
    }
    await says(/listening http/)
    const [, address = ''] = /listening (\S+)/.exec(said) ?? []
    return { child, url: `${address}/orders/o-1`, says, said: () => said }
  }

  function request(url: string, method: string, body: object): Promise<Response> {
    const headers = { 'content-type': 'application/json' }
    return fetch(url, { method, headers, body: JSON.stringify(body) })
  }

  async function until(url: string, isThere: (shown: Record<string, unknown>) => boolean) {
    for (;;) {
      const shown = (await (await fetch(url)).json()) as Record<string, unknown>
      if (isThere(shown)) return shown
      if (shown['status'] === 'failed') throw new Error(JSON.stringify(shown))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
})
