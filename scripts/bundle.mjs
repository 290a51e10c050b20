/**
 * Bundles the compiled files of a package that is about to be packed: `import 'tallystick'` then
 * reads some ten files instead of five hundred, which is most of what an import takes.
 *
 * Every entry, and every file that something outside of the bundle imports or starts by its path,
 * stays where it was as a line that takes its names from `dist/bundle`. The room of tests is left
 * as it is compiled: its detectors tell code apart by its file.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { build } from 'esbuild'

/** Where the bundle lies. */
export const bundleFolder = 'dist/bundle'

/** Compiled files that are shipped as they are. */
const unbundled = ['dist/src/testing/', 'dist/src/console/page/', 'dist/examples/']
/** The entry that a program imports first, which is to read no more than its names need. */
const leanEntry = 'dist/src/index.js'
/** A file of constants alone, of which each user's bundle takes those that its code names. */
const limitsFile = 'dist/src/core/limits.js'

const posix = (path) => path.replaceAll('\\', '/')

/** Bundles the files below `root` that these entries (relative paths) reach. */
export async function bundlePackage(root, entries) {
  const files = ['dist/src', 'dist/machines'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => posix(join(folder, name)))
      .filter((path) => path.endsWith('.js'))
  )
  const isBundled = (path) =>
    path !== limitsFile && !unbundled.some((folder) => path.startsWith(folder))
  const kept = new Set(entries.filter((path) => path.endsWith('.js') && isBundled(path)))
  for (const path of files) {
    const started = isBundled(path) ? startedIn(root, path) : importedIn(root, path)
    for (const target of started) if (isBundled(target)) kept.add(target)
  }
  await build({
    entryPoints: Object.fromEntries([...kept].map((path) => [nameOf(path), join(root, path)])),
    outdir: join(root, bundleFolder),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    // What a file of the bundle finds beside itself it finds from where it was.
    plugins: [placesOf(root), limitsByName(root)],
    legalComments: 'none',
    logLevel: 'warning'
  })
  for (const path of files.filter(isBundled)) {
    if (kept.has(path)) writeFileSync(join(root, path), standIn(root, path))
    else rmSync(join(root, path))
  }
}

const nameOf = (path) =>
  path
    .replace(/^dist\//, '')
    .replace(/\.js$/, '')
    .replaceAll('/', '-')

/** A file in the place of another that takes its names from the bundle. */
function standIn(root, path) {
  const shebang = /^#!.*\n/.exec(readFileSync(join(root, path), 'utf8'))?.[0] ?? ''
  const specifier = specifierOf(dirname(path), join(bundleFolder, `${nameOf(path)}.js`))
  return `${shebang}export * from ${JSON.stringify(specifier)}\n`
}

/** How a file of a folder imports another. */
function specifierOf(folder, file) {
  const target = posix(relative(folder, file))
  return target.startsWith('.') ? target : `./${target}`
}

function importedIn(root, path) {
  const text = readFileSync(join(root, path), 'utf8')
  const imports = /\b(?:from|import|new URL)\s*\(?\s*(['"])(\.[^'"]+\.js)\1/g
  return [...text.matchAll(imports)].map(([, , specifier]) => targetOf(root, path, specifier))
}

/** Files that are started by their path, as programs of other processes are. */
function startedIn(root, path) {
  const text = readFileSync(join(root, path), 'utf8')
  const started = /\bnew URL\(\s*(['"])(\.[^'"]+\.js)\1/g
  return [...text.matchAll(started)].map(([, , specifier]) => targetOf(root, path, specifier))
}

function targetOf(root, path, specifier) {
  return posix(relative(root, resolve(root, dirname(path), specifier)))
}

/**
 * Bundlers keep a namespace whole that a file takes from a door, and take single constants of one
 * that it imports itself.
 */
function limitsByName(root) {
  const file = join(root, limitsFile)
  return {
    name: 'limits by name',
    setup({ onResolve }) {
      onResolve({ filter: /\/limits\.js$/ }, ({ path, resolveDir }) => {
        if (resolve(resolveDir, path) !== file) return undefined
        return { path: posix(relative(join(root, bundleFolder), file)), external: true }
      })
    }
  }
}

/**
 * Takes names from the files that make them instead of from a door (`index.js`), of which esbuild
 * lays all that it leads to into the chunks of an entry. It does so in the files that an entry
 * reaches by the names it needs: were it done in all, the others would be read from twice as many
 * chunks.
 */
class Doors {
  #handedOn = new Map()
  #reached = new Set()

  constructor(entry) {
    const open = [entry]
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (this.#reached.has(file) || !existsSync(file)) continue
      this.#reached.add(file)
      const direct = this.withoutDoors(file, readFileSync(file, 'utf8'))
      for (const [, , specifier] of direct.matchAll(/\bfrom (['"])(\..*?)\1/g)) {
        open.push(resolve(dirname(file), specifier))
      }
    }
  }

  withoutDoors(file, contents) {
    const fromDoor = /^(import|export) \{ (.*) \} from '(\..*\/index\.js)';$/gm
    return contents.replace(fromDoor, (_whole, verb, list, specifier) =>
      list
        .split(', ')
        .map((one) => {
          const [name, as = name] = one.split(' as ')
          const made = this.#madeBy(resolve(dirname(file), specifier), name)
          // A namespace from a door is kept whole by bundlers, one from its file is not.
          if (made.name !== '*' && !this.#reached.has(file)) {
            return `${verb} { ${one} } from '${specifier}';`
          }
          const names = made.name === '*' ? `* as ${as}` : `{ ${made.name} as ${as} }`
          return `${verb} ${names} from '${specifierOf(dirname(file), made.file)}';`
        })
        .join(' ')
    )
  }

  #madeBy(file, name) {
    const found = this.#handedOnBy(file).get(name)
    if (found === undefined) return { file, name }
    return found.name === '*' ? found : this.#madeBy(found.file, found.name)
  }

  /** The names of others that a file exports; none does so with `export *`. */
  #handedOnBy(file) {
    const known = this.#handedOn.get(file)
    if (known !== undefined) return known
    const found = new Map()
    this.#handedOn.set(file, found)
    const exported = /^export (?:\{ (.*) \}|\* as (\w+)) from '(\..*)';$/gm
    for (const [, list, space, specifier] of readFileSync(file, 'utf8').matchAll(exported)) {
      const from = resolve(dirname(file), specifier)
      if (space !== undefined) found.set(space, { file: from, name: '*' })
      for (const one of list?.split(', ') ?? []) {
        const [name, as = name] = one.split(' as ')
        found.set(as, { file: from, name })
      }
    }
    return found
  }
}

function placesOf(root) {
  const doors = new Doors(join(root, leanEntry))
  return {
    name: 'places',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (!existsSync(path)) return undefined
        const contents = doors.withoutDoors(path, readFileSync(path, 'utf8'))
        if (!contents.includes('import.meta.url')) return { contents, loader: 'js' }
        const from = posix(relative(join(root, bundleFolder), path))
        const place = `new URL(${JSON.stringify(from)}, import.meta.url).href`
        return { contents: contents.replaceAll('import.meta.url', `(${place})`), loader: 'js' }
      })
    }
  }
}
