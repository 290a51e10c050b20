import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorCatalogue, limits } from '../src/core/index.js'
import { isLong } from './support/effort.js'
import { filesLeftOut, longFiles } from './support/long-files.js'
import { longestFiles } from './support/longest-first.js'
import {
  builtinPlaces,
  codesToCome,
  facades,
  filesToCome,
  folderOrder,
  libraryPlaces,
  limitsToCome,
  pageFolder,
  rankOf,
  roomOf,
  roomOrder,
  seams
} from './support/rooms.js'
import {
  filesBelow,
  functionBodies,
  lineAt,
  packageOf,
  readSource,
  resolveImport,
  root,
  type SourceFile
} from './support/source.js'

/**
 * Style and architecture as a test (architecture.md §3). Each rule lists its offenders as
 * `path:line what`, so that a failure reads as a list of things to mend.
 */

const FILE_LINES_MAX = 400
/** Of a file that is one thing and reads worse in two: named one by one, decision 0112. */
const WHOLE_FILE_LINES_MAX = 600
const wholeFiles: ReadonlySet<string> = new Set(['src/block/pump/attempt.ts'])
const FUNCTION_LINES_MAX = 70
const LINE_COLUMNS_MAX = 100

// A table with an entry for each code or limit: it grows with the product and is read by searching.
const isTable = ({ path }: SourceFile) =>
  path.startsWith('src/core/errors/codes/') || path === 'src/core/limits.ts'

const linesMaxOf = ({ path }: SourceFile) =>
  wholeFiles.has(path) ? WHOLE_FILE_LINES_MAX : FILE_LINES_MAX

// Bytes of a format, shown in a comment, and the name of a test: there is no place to break them.
const unbreakable = /^\s*(\*|\/\/) +\S+$|^\s*it\('[^']+', async \(\) => \{$/

const src = filesBelow('src', ['.ts', '.tsx']).map(readSource)
const machines = filesBelow('machines', ['.ts']).map(readSource)
const tests = filesBelow('test', ['.ts']).map(readSource)
const others = ['bench', 'examples', 'scripts']
  .flatMap((folder) => filesBelow(folder, ['.ts', '.mjs']))
  .map(readSource)
const shipped = [...src, ...machines]
const everything = [...shipped, ...tests, ...others]
const byPath = new Map(everything.map((file) => [file.path, file]))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

function matches(files: readonly SourceFile[], pattern: RegExp, part: 'code' | 'text' = 'code') {
  const global = new RegExp(pattern.source, `${pattern.flags.replace('g', '')}g`)
  return files.flatMap((file) =>
    [...file[part].matchAll(global)].map(
      (match) => `${file.path}:${lineAt(file[part], match.index)} ${match[0].trim()}`
    )
  )
}

describe('rooms', () => {
  it('has only the rooms of the architecture', () => {
    const unknown = src
      .map((file) => roomOf(file.path))
      .filter((room) => room !== undefined && rankOf(room) === -1)
    expect([...new Set(unknown)]).toEqual([])
  })

  it('imports only from rooms to the left, and only what their index lists', () => {
    const offenders = src.flatMap((file) =>
      file.imports.flatMap(({ specifier, line }) => {
        const target = resolveImport(file.path, specifier)
        const problem = target === undefined ? undefined : roomProblem(file.path, target)
        return problem === undefined ? [] : [`${file.path}:${line} ${specifier}: ${problem}`]
      })
    )
    expect(offenders).toEqual([])
  })

  it.each(Object.keys(folderOrder))('imports in one direction between folders: %s', (room) => {
    const order = folderOrder[room] ?? []
    const folderOf = (path: string) => {
      const [, inRoom, folder, ...rest] = path.split('/')
      return inRoom !== room ? undefined : rest.length === 0 ? '' : folder
    }
    const placeOf = (folder: string) => (folder === '' ? order.length : order.indexOf(folder))
    const files = src.filter(({ path }) => folderOf(path) !== undefined)
    expect.soft(new Set(files.map(({ path }) => folderOf(path)))).toEqual(new Set(['', ...order]))
    const offenders = files.flatMap(({ path, imports }) =>
      imports.flatMap(({ specifier, line }) => {
        const from = folderOf(path)
        const to = folderOf(resolveImport(path, specifier) ?? '')
        if (from === undefined || to === undefined || placeOf(to) <= placeOf(from)) return []
        return [`${path}:${line} ${specifier}`]
      })
    )
    expect.soft(offenders).toEqual([])
  })

  it('keeps the facades at the right end: no room imports them', () => {
    const offenders = shipped
      .filter((file) => roomOf(file.path) !== 'cli')
      .flatMap((file) =>
        file.imports
          .filter(({ specifier }) => facades.includes(resolveImport(file.path, specifier) ?? ''))
          .map(({ line }) => `${file.path}:${line}`)
      )
    expect(offenders).toEqual([])
  })

  it('lets machines import types only', () => {
    const offenders = machines.flatMap((file) =>
      file.imports
        .filter(({ typeOnly, specifier }) => !typeOnly && !specifier.startsWith('./'))
        .map(({ specifier, line }) => `${file.path}:${line} ${specifier}`)
    )
    expect(offenders).toEqual([])
  })

  it('D10: lets the reducer of a run know no driver, and await nothing', () => {
    const below = src.filter(({ path }) => /^src\/block\/(run|chart|document)\//.test(path))
    const drivers = below.flatMap((file) =>
      file.imports
        .map(({ specifier, line }) => ({ line, target: resolveImport(file.path, specifier) ?? '' }))
        .filter(({ target }) => /^src\/block\/(pump|recovery|replay)\//.test(target))
        .map(({ line, target }) => `${file.path}:${line} ${target}`)
    )
    expect.soft(drivers).toEqual([])
    const reducer = below.filter(({ path }) => path.startsWith('src/block/run/'))
    expect.soft(matches(reducer, /\basync\b/)).toEqual([])
  })

  it('has no import cycles between files, imports of types counted', () => {
    expect(importCycles()).toEqual([])
  })

  it('loads no room that runs anything to read a ledger', () => {
    const loaded = ['src/cli/log.ts', 'src/runtime/index.ts'].flatMap((path) => [
      ...loadedWith(path)
    ])
    const rooms = new Set(loaded.map(roomOf))
    rooms.delete(undefined)
    expect([...rooms].sort()).toEqual(['cli', 'core', 'identity', 'ledger', 'owner', 'runtime'])
  })

  it('loads no flows and no workflows to open a ledger', () => {
    const rooms = new Set([...loadedWith('src/runtime/runtime.ts')].map(roomOf))
    for (const room of ['agent', 'workflow', 'executor'])
      expect.soft([...rooms]).not.toContain(room)
  })

  it('reaches every file from an entry point', () => {
    const reached = reachableFrom(entryPoints())
    const dead = shipped.map((file) => file.path).filter((path) => !reached.has(path))
    expect(dead.filter((path) => !filesToCome.test(path))).toEqual([])
  })
})

describe('libraries', () => {
  it('are imported in one place each, and none that is not named', () => {
    const offenders = shipped.flatMap((file) =>
      file.imports.flatMap(({ specifier, line }) => {
        const name = packageOf(specifier)
        if (name === undefined) return []
        const places = name.startsWith('node:') ? builtinPlaces[name] : (libraryPlaces[name] ?? [])
        const allowed = places?.some((place) => file.path.startsWith(place)) ?? true
        return allowed ? [] : [`${file.path}:${line} ${specifier}`]
      })
    )
    expect.soft(offenders).toEqual([])
  })

  it('are declared with exact versions', () => {
    const declared = {
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies
    }
    const loose = Object.entries(declared).filter(
      ([, version]) => !/^(npm:@?[\w./-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version))
    )
    expect.soft(loose).toEqual([])
    const promised = { ...manifest.dependencies, ...manifest.peerDependencies }
    const needed = shipped
      .filter(({ path }) => !path.startsWith(pageFolder))
      .flatMap((file) => file.imports.map(({ specifier }) => packageOf(specifier)))
      .filter((name) => name !== undefined && !name.startsWith('node:'))
    expect.soft([...new Set(needed)].filter((name) => !(String(name) in promised))).toEqual([])
  })

  it('leave time and chance to the seams', () => {
    const offenders = seams.flatMap(({ call, files }) =>
      matches(
        shipped.filter((file) => !files.some((place) => file.path.startsWith(place))),
        call
      )
    )
    expect.soft(offenders).toEqual([])
  })

  it('are handed nothing by way of globals or evaluation', () => {
    expect
      .soft(matches(shipped, /(?<![.\w])eval\(|\bnew Function\b|\bglobalThis\.\w+\s*=[^=]/))
      .toEqual([])
  })
})

describe('code', () => {
  it('exports by name only', () => {
    expect.soft(matches(shipped, /^export default\b/m)).toEqual([])
    const stars = matches(shipped, /^export (type )?\*.*$/m, 'text')
    expect
      .soft(stars.filter((star) => !/ export \* as limits from '[./]+limits\.js'$/.test(star)))
      .toEqual([])
  })

  it('has no escapes from the type checker or the linter', () => {
    const escapes =
      /@ts-(ignore|nocheck|expect-error)|eslint-disable|biome-ignore(?! lint\/[\w/]+: \w{3})/
    expect.soft(matches(shipped, escapes, 'text')).toEqual([])
    expect.soft(matches(shipped, /(:|<|\bas) any\b/)).toEqual([])
    expect.soft(matches(shipped, /[\w)\]]!(?=[.;,)\][\s])(?!=)/)).toEqual([])
  })

  it('leaves no markers of unfinished work', () => {
    expect.soft(matches(everything, /\b(?:TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b/, 'text')).toEqual([])
  })

  it('keeps files, functions and lines short', () => {
    const longFiles = shipped
      .filter((file) => !isTable(file) && file.lines.length - 1 > linesMaxOf(file))
      .map((file) => `${file.path} ${file.lines.length - 1} lines`)
    expect.soft(longFiles).toEqual([])
    const longFunctions = src.flatMap((file) =>
      functionBodies(file.code)
        .filter(({ length }) => length > FUNCTION_LINES_MAX)
        .map(({ line, length }) => `${file.path}:${line} ${length} lines`)
    )
    expect.soft(longFunctions).toEqual([])
    const longLines = everything.flatMap((file) =>
      file.lines.flatMap((line, index) =>
        [...line].length > LINE_COLUMNS_MAX && !unbreakable.test(line) && !isTable(file)
          ? [`${file.path}:${index + 1}`]
          : []
      )
    )
    expect.soft(longLines).toEqual([])
  })

  it('uses every error code and every limit', () => {
    const text = shipped
      .filter((file) => !/core\/(errors\/codes|limits)\.ts$/.test(file.path))
      .map((file) => file.text)
      .join('\n')
    const codes = Object.keys(errorCatalogue).filter((code) => !text.includes(`'${code}'`))
    expect.soft(codes.filter((code) => !codesToCome.test(code))).toEqual([])
    const unused = Object.keys(limits).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))
    expect.soft(unused.filter((name) => !limitsToCome.test(name))).toEqual([])
  })
})

describe('machines', () => {
  it.each(machines.map((file) => file.path))('%s is data, and survives JSON', async (path) => {
    const exported: Readonly<Record<string, unknown>> = await import(join(root, path))
    const values = Object.entries(exported)
    expect.soft(values.length).toBeGreaterThan(0)
    // A template is a function from data to data; the tests of its room check what it gives.
    for (const [name, value] of values.filter(([, one]) => typeof one !== 'function')) {
      expect.soft(JSON.parse(JSON.stringify(value)), name).toStrictEqual(value)
    }
  })

  it('have no timers of their own', () => {
    expect.soft(matches(machines, /^\s*(after|delay)\b\s*:/m)).toEqual([])
  })
})

describe('tests and the repository', () => {
  it('leave files to the long form that are there, one each and in order', () => {
    expect(longFiles.filter((path) => !existsSync(join(root, path)))).toEqual([])
    expect(longFiles).toEqual([...new Set(longFiles)].sort())
  })

  it('begin with files that are there, one each', () => {
    expect(longestFiles.filter((path) => !existsSync(join(root, path)))).toEqual([])
    expect(longestFiles).toEqual([...new Set(longestFiles)])
  })

  it('run a file of the long form where a command names it', () => {
    const [first = ''] = longFiles
    const rest = isLong ? [] : longFiles.slice(1)
    expect(filesLeftOut(['--maxWorkers=1', first])).toEqual(rest)
    expect(filesLeftOut([])).toEqual(isLong ? [] : longFiles)
  })

  it('runs only tests that exist in the steps of .ci/run', () => {
    const script = readFileSync(join(root, '.ci', 'run'), 'utf8')
    const named = script.match(/\btest\/[\w/.-]+/g) ?? []
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('skips no test', () => {
    expect.soft(matches(tests, /\.(skip|only|todo|skipIf|runIf)\b/)).toEqual([])
  })

  it('names no path of a machine', () => {
    const machinePath = /(^|[\s"'`(=:])\/(?:wor[k]|roo[t]|home|Users)\/[\w.]|\.librar[y]\//
    const listed = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
    const offenders = listed
      .split('\n')
      .filter((path) => path !== '' && existsSync(join(root, path)))
      .filter((path) => machinePath.test(readFileSync(join(root, path), 'latin1')))
    expect.soft(offenders).toEqual([])
  })
})

function roomProblem(from: string, to: string): string | undefined {
  if (!byPath.has(to)) return 'there is no such file'
  if (to.startsWith('machines/') || facades.includes(from)) return undefined
  const here = roomOf(from)
  const there = roomOf(to)
  if (here === undefined || there === undefined) return undefined
  if (here === there) {
    return to === `src/${here}/index.ts` ? 'a room does not import its own index' : undefined
  }
  if (rankOf(there) >= rankOf(here)) return `${there} is not to the left of ${here}`
  const listed = [`src/${there}/index.ts`, `src/${there}.ts`]
  return listed.includes(to) ? undefined : `reaches past the index of ${there}`
}

/** Files that something outside the sources loads: exports, commands, a test seam, the bundler. */
function entryPoints(): readonly string[] {
  const targets: readonly unknown[] = [
    ...Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'object' && target !== null ? Object.values(target) : [target]
    ),
    ...Object.values(manifest.bin)
  ]
  const sources = targets
    .filter((target) => typeof target === 'string')
    .map((target) => target.replace(/^\.\/(dist\/)?/, '').replace(/\.(d\.ts|js)$/, '.ts'))
  return [...new Set([...sources, 'src/internal.ts', `${pageFolder}main.tsx`])].filter((path) =>
    byPath.has(path)
  )
}

function reachableFrom(entries: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [...entries]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const file = byPath.get(path)
    if (file === undefined || reached.has(path)) continue
    reached.add(path)
    const workers = [...file.text.matchAll(/new URL\('(\.[^']+)', import\.meta\.url\)/g)]
    const specifiers = [
      ...file.imports.map((one) => one.specifier),
      ...workers.map(([, specifier = '']) => specifier)
    ]
    open.push(...specifiers.flatMap((specifier) => resolveImport(path, specifier) ?? []))
  }
  return reached
}

/** Files that are loaded together with a file: all that it imports but types and lazy imports. */
function loadedWith(entry: string): ReadonlySet<string> {
  const loaded = new Set<string>()
  const open = [entry]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (loaded.has(path)) continue
    loaded.add(path)
    const needed = (byPath.get(path)?.imports ?? []).filter((one) => !one.typeOnly && !one.isLazy)
    open.push(...needed.flatMap(({ specifier }) => resolveImport(path, specifier) ?? []))
  }
  return loaded
}

/** Each cycle of imports once, those of types counted, as the path around it. */
function importCycles(): readonly string[] {
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start !== -1) cycles.push([...trail.slice(start), path].join(' -> '))
    if (start !== -1 || done.has(path)) return
    for (const { specifier } of byPath.get(path)?.imports ?? []) {
      const target = resolveImport(path, specifier)
      if (target !== undefined) visit(target, [...trail, path])
    }
    done.add(path)
  }
  for (const file of shipped) visit(file.path, [])
  return cycles
}

describe('the scanner of this test', () => {
  it('sees imports, function lengths, and not what strings and comments say', () => {
    const scanner = readSource('test/support/source.ts')
    expect(scanner.imports.map((one) => one.specifier)).toEqual([
      'node:fs',
      'node:path',
      'node:url'
    ])
    expect(functionBodies('function a(): void {\n\n}\nif (x) {\n}\nconst b = () => {\n}')).toEqual([
      { line: 1, length: 3 },
      { line: 6, length: 2 }
    ])
    const self = readSource('test/tidy.test.ts')
    expect(self.code).toHaveLength(self.text.length)
    expect(self.code).not.toContain('has only the rooms')
    expect(self.code).toContain('execFileSync(')
    expect(roomOrder.flat()).toHaveLength(new Set(roomOrder.flat()).size)
  })
})
