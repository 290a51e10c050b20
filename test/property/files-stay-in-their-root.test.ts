import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readFlow, readPromptAssets } from '../../src/agent/index.js'
import { fileLoader } from '../../src/agent/position/load-files.js'
import { packDirectory } from '../../src/capability/index.js'
import { createFrame } from '../../src/cli/frame/frame.js'
import { readWorkflow } from '../../src/cli/frame/workflow.js'
import { readSecretFile } from '../../src/core/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { flowOf, nodeOf } from '../support/flows.js'
import { CANARY, type HostileWorld, hostilePaths, hostileWorld } from '../support/hostile-files.js'

/**
 * K15: every road by which a document or package has a file read, with every path and link that is
 * not to be read. What may not be read holds one word, and it must not come out; and nothing waits
 * for a pipe or reads a device to its end.
 */

let world: HostileWorld
beforeAll(async () => {
  world = await hostileWorld()
})
afterAll(() => rm(world.folder, { recursive: true, force: true }))

/** What comes out when a document leads this road to this path. */
type Road = (path: string, index: number) => Promise<unknown>

const silent = { write: () => true }

async function loaded(kind: 'files' | 'names', path: string): Promise<unknown> {
  const loader = fileLoader({ root: world.root, closed: () => [world.closed] })
  const { signal } = new AbortController()
  return loader.perform({ key: 'k', signal, request: { kind, path } })
}

/** A link of the world's root or, for a plain name, the path itself, put where a road looks. */
async function linkTo(path: string, at: string): Promise<void> {
  await mkdir(join(at, '..'), { recursive: true })
  await rm(at, { force: true })
  await symlink(isAbsolute(path) ? path : join(world.root, path.replaceAll('\0', '')), at)
}

const roads: Readonly<Record<string, Road>> = {
  'loader.local-dir': (path) => loaded('files', path),
  'loader.local-dir of the directory around': (path) =>
    loaded('files', path.slice(0, path.lastIndexOf('/') + 1) || '.'),
  'loader.work-dir': (path) => loaded('names', path),
  'imports of workflows': async (path) => {
    const text = JSON.stringify({
      schema: 'ais-flow/0.0.3',
      meta: { name: 'w', version: '1.0.0' },
      default_chain: 'eip155:1',
      imports: { protocols: [{ protocol: 'x@1.0.0', path }] },
      nodes: [{ id: 'n', type: 'query_ref', skill: 'x@1.0.0', query: 'q' }]
    })
    const frame = createFrame(
      {},
      { stdout: silent, stderr: silent, environment: {}, cwd: world.root }
    )
    return readWorkflow(frame, 'w.yaml', text, {})
  },
  'prompt assets that are links': async (path, index) => {
    const directory = join(world.folder, 'flows', `${index}`)
    await linkTo(path, join(directory, '.agents-flow', 'global-system-prompt.md'))
    await linkTo(path, join(directory, '.agents-flow', 'instructions', 'a.instructions.md'))
    return readPromptAssets(join(directory, '.agents-flow'))
  },
  'a directory of prompt assets that is a link': async (path, index) => {
    const directory = join(world.folder, 'linked', `${index}`)
    await mkdir(directory, { recursive: true })
    await cp(
      join(world.folder, 'outside', 'secret.md'),
      join(world.folder, 'global-system-prompt.md')
    )
    await symlink(world.folder, join(directory, '.agents-flow'))
    const flow = flowOf({ nodes: [nodeOf('finish', 'control.finish')] })
    await writeFile(join(directory, 'flow.json'), JSON.stringify({ ...flow, note: index, path }))
    const { path: _path, ...read } = await readFlow(join(directory, 'flow.json'))
    return read
  },
  'modules of packages': async (path, index) => {
    const directory = join(world.folder, 'packages', `${index}`)
    await linkTo(path, join(directory, 'bundle.mjs'))
    await writeFile(
      join(directory, 'manifest.json'),
      JSON.stringify({ name: 'p', id: 'p', version: '1.0.0', intents: ['p.x'], capabilities: [] })
    )
    return packDirectory(directory)
  },
  'manifests of packages': async (path, index) => {
    const directory = join(world.folder, 'manifests', `${index}`)
    await linkTo(path, join(directory, 'manifest.json'))
    return packDirectory(directory)
  }
}

describe('K15: what a document or package has read', () => {
  it.each(Object.keys(roads))('by %s is nothing that it may not read', async (name) => {
    for (const [index, [path, problem]] of hostilePaths(world).entries()) {
      const found = await (roads[name] as Road)(path, index).catch((error: unknown) => error)
      // What a link leads to inside of the root is ignored or closed for loaders only.
      const text = `${JSON.stringify(found)}${found instanceof Error ? found.message : ''}`
      expect(text.includes(CANARY), `${path} (${problem})`).toBe(false)
    }
  })

  it('by file: references is no pipe, no device and no directory', async () => {
    for (const name of ['docs/pipe.md', 'docs/device.md', 'docs']) {
      expect(await readSecretFile(join(world.root, name))).toBeUndefined()
    }
  })

  it('by loaders is neither the ledger nor the configuration of the program that runs them', async () => {
    const root = join(world.folder, 'program')
    const location = join(root, 'ledger')
    await mkdir(join(root, 'docs'), { recursive: true })
    await writeFile(join(root, 'docs', 'good.md'), 'good')
    await writeFile(join(root, 'mine.ts'), CANARY)
    await using tally = await createRuntime({
      location,
      create: 'if-absent',
      insecurePlaintextKey: true,
      closedPaths: [join(root, 'mine.ts')],
      agents: { loaderRoot: root, environment: {} }
    })
    for (const path of ['ledger/keys', 'ledger', 'ledger/data-1', 'mine.ts', '.']) {
      const document = flowOf({
        nodes: [
          nodeOf('load', 'loader.local-dir', { config: { path } }),
          nodeOf('finish', 'control.finish')
        ],
        edges: ['load -> finish']
      })
      const { response } = await tally.begin(document).result
      if (path === '.') {
        const documents = [{ path: 'docs/good.md', content: 'good' }]
        expect(response).toMatchObject({ success: true, data: { result: { path, documents } } })
      } else expect(response.details).toEqual({ problem: 'closed', path })
    }
  })

  it('by loaders of runs that the owner did not start is nothing, unless the host gives a root', async () => {
    const { signal } = new AbortController()
    const call = { key: 'k', signal, request: { kind: 'files', path: '.' } }
    const load = async (root: string | undefined, principal: object | undefined) => {
      const loader = fileLoader({ root, closed: () => [] })
      const given = principal === undefined ? {} : { principal: principal as never }
      return Promise.resolve(loader.perform({ ...call, ...given })).then(
        () => 'read',
        (error: { details?: { problem?: string } }) => error.details?.problem
      )
    }
    for (const kind of ['agent', 'peer', 'package', '', undefined]) {
      const principal = kind === undefined ? undefined : { kind, id: 'x' }
      expect(await load(undefined, principal)).toBe('no_root')
      expect(await load(world.root, principal)).toBe('read')
    }
    expect(await load(undefined, { kind: 'owner', id: 'x' })).not.toBe('no_root')
  })
})
