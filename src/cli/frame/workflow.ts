import { dirname, relative, resolve } from 'node:path'
import {
  cliError,
  FileRoot,
  isJsonObject,
  type Json,
  limits,
  readDocument,
  sha256Hex,
  type TallyError
} from '../../core/index.js'
import type {
  Issue,
  importsOf,
  PackDocument,
  ProtocolDocument,
  WorkflowHost
} from '../../workflow/index.js'
import { loadConfig } from './config.js'
import type { Problem } from './document.js'
import { readInput } from './files.js'
import type { Frame } from './frame.js'

/** Options by which a command is given what a workflow needs. */
export interface WorkflowOptions {
  readonly protocol?: readonly string[]
  readonly pack?: readonly string[]
  readonly chain?: string
  /** Its protocols and packs count, too. */
  readonly config?: string
}

/** A workflow with the documents that were found for it. */
export interface WorkflowFiles {
  readonly flow: Json
  readonly protocols: readonly ProtocolDocument[]
  readonly packs: readonly PackDocument[]
  /** The same documents as they were read. */
  readonly documents: { readonly protocols: readonly Json[]; readonly packs: readonly Json[] }
  readonly problems: readonly Problem[]
}

/** Whether text is a document of AIS. Throws `document.malformed`. */
export async function isAisText(text: string): Promise<boolean> {
  // Most documents are not: the room is loaded only for those that may be.
  if (!text.includes('ais')) return false
  const { isAisDocument } = await import('../../workflow/index.js')
  return isAisDocument(readDocument(text))
}

/**
 * Reads what a workflow imports, from beside it, and what the options name. Throws
 * `cli.unreadable_file`, `cli.usage` for an import that is not the file it was.
 */
export async function readWorkflow(
  frame: Frame,
  file: string,
  text: string,
  options: WorkflowOptions
): Promise<WorkflowFiles> {
  const { importsOf, parseFlow, parsePack, parseProtocol } = await import('../../workflow/index.js')
  const flow = readDocument(text)
  const parsed = parseFlow(flow)
  const imports = parsed.ok ? importsOf(parsed.document) : []
  const problems: Problem[] = []
  const protocols: ProtocolDocument[] = []
  const packs: PackDocument[] = []
  const documents = { protocols: [] as Json[], packs: [] as Json[] }
  for (const { path, content } of await protocolFiles(frame, file, imports, options)) {
    const read = parseProtocol(content)
    if (!read.ok) problems.push(...read.issues.map((issue) => problemOf(issue, path)))
    else {
      protocols.push(read.document)
      documents.protocols.push(readDocument(content))
    }
  }
  const host = await configured(frame, options.config)
  for (const source of host?.protocols ?? []) {
    const read = parseProtocol(source)
    if (read.ok) protocols.push(read.document)
  }
  for (const source of host?.packs ?? []) {
    const read = parsePack(source)
    if (read.ok) packs.push(read.document)
  }
  for (const path of options.pack ?? []) {
    const content = await readInput(frame, path)
    const read = parsePack(content)
    if (!read.ok) problems.push(...read.issues.map((issue) => problemOf(issue, path)))
    else {
      packs.push(read.document)
      documents.packs.push(readDocument(content))
    }
  }
  return { flow, protocols, packs, documents, problems }
}

/**
 * What a workflow imports and what options name. One that an option names stands for the import of
 * the same protocol, wherever that leads.
 */
async function protocolFiles(
  frame: Frame,
  file: string,
  imports: ReturnType<typeof importsOf>,
  options: WorkflowOptions
): Promise<readonly { readonly path: string; readonly content: string }[]> {
  const { parseProtocol, protocolKey } = await import('../../workflow/index.js')
  const directory = dirname(resolve(frame.cwd, file))
  const imported: { path: string; content: string }[] = []
  const named: typeof imported = []
  const byKey = new Map<string, string>()
  for (const path of options.protocol ?? []) {
    const content = await readInput(frame, path)
    named.push({ path, content })
    const read = parseProtocol(content)
    if (read.ok) byKey.set(protocolKey(read.document), content)
  }
  const unread: string[] = []
  for (const { path, protocol, integrity } of imports) {
    const given = byKey.get(protocol)
    const content = given ?? (await readBeside(directory, path))
    if (content === undefined) {
      unread.push(path)
      continue
    }
    if (integrity !== undefined && integrity !== `sha256:${sha256Hex(content)}`) {
      const problem = `${path} is not the file that the workflow imports: its hash differs`
      throw cliError('cli.usage', { problem })
    }
    if (given === undefined) imported.push({ path, content })
  }
  if (unread.length > 0) throw notBeside(frame, directory, unread)
  return [...imported, ...named]
}

/** What the configuration brings; a run reads it by itself, so it is only looked at. */
async function configured(
  frame: Frame,
  path: string | undefined
): Promise<WorkflowHost | undefined> {
  if (path === undefined) return undefined
  return (await loadConfig(frame, resolve(frame.cwd, path))).workflow
}

/**
 * A document may come from a stranger: what it imports lies beside or below it. Undefined: this
 * does not.
 */
async function readBeside(directory: string, path: string): Promise<string | undefined> {
  const opened = await FileRoot.open(directory)
  const read = opened.ok
    ? await opened.root.readText(path, { bytesMax: limits.INPUT_BYTES_MAX })
    : opened
  if (read.ok) return read.text
  if (read.problem === 'not_found') {
    throw cliError('cli.unreadable_file', { path, problem: 'there is no such file' })
  }
  return undefined
}

/** With all that has to be added to the command. */
function notBeside(frame: Frame, directory: string, paths: readonly string[]): TallyError {
  const options = paths.map(
    (path) => `--protocol ${relative(frame.cwd, resolve(directory, path)) || '.'}`
  )
  const found = `the workflow imports ${paths.join(', ')}`
  const where = 'only files beside and below it are read without being named'
  return cliError('cli.usage', {
    problem: `${found}, but ${where}; use ${options.join(' ')}`
  })
}

/** An issue as commands show it. */
export function problemOf(issue: Issue, file?: string): Problem {
  const { severity, code, message, path, protocol, line, column, more } = issue
  const where = file ?? protocol
  const label = severity === 'error' ? '' : ` (${code})`
  return {
    reason: severity === 'error' ? code : 'lint',
    path,
    message: `${where === undefined ? '' : `${where}: `}${message}${label}`,
    ...(line === undefined || column === undefined ? {} : { line, column }),
    ...(more === undefined ? {} : { more })
  }
}

/** Problems of a document of AIS: a workflow with its protocols, a protocol, or a pack. */
export async function checkAis(frame: Frame, file: string, text: string, options: WorkflowOptions) {
  const { checkAisDocument, unfitPacks } = await import('../../workflow/index.js')
  const read = await readWorkflow(frame, file, text, options)
  const checked = await checkAisDocument(text, {
    protocols: read.protocols,
    packs: read.packs,
    ...(options.chain === undefined ? {} : { defaultChain: options.chain })
  })
  const unfit = unfitPacks(read.packs)
  const packed = { code: 'pack_mismatch', severity: 'error', path: [] } as const
  const issues = unfit === undefined ? [] : [{ ...packed, message: unfit }]
  const problems = [
    ...read.problems,
    ...[...issues, ...checked.issues].map((issue) => problemOf(issue))
  ]
  return { read, checked, problems }
}

/** One document with everything that a run of the workflow needs. */
export async function bundleOf(
  { flow, documents }: WorkflowFiles,
  options: WorkflowOptions & {
    readonly broadcast?: boolean
    readonly simulate?: boolean
    readonly yes?: boolean
    readonly onError?: string
  }
): Promise<string> {
  const { bundleSchemaName } = await import('../../workflow/index.js')
  const writes = options.broadcast ? 'broadcast' : options.simulate ? 'simulate' : undefined
  return JSON.stringify({
    schema: bundleSchemaName,
    flow,
    protocols: documents.protocols,
    packs: documents.packs,
    ...(options.chain === undefined ? {} : { default_chain: options.chain }),
    ...(writes === undefined ? {} : { writes }),
    ...(options.yes === true ? { yes: true } : {}),
    ...(options.onError === undefined ? {} : { on_error: options.onError })
  })
}

/** What a run is started with: `--inputs` and `--ctx` as sections. Throws `cli.usage`. */
export async function givenFor(inputs: Json, ctx: Json | undefined): Promise<Json> {
  const { givenOf } = await import('../../workflow/index.js')
  if (!isJsonObject(inputs)) {
    throw cliError('cli.usage', { problem: '--inputs of a workflow are an object' })
  }
  if (ctx === undefined) return inputs
  if (!isJsonObject(ctx)) {
    throw cliError('cli.usage', { problem: '--ctx is an object' })
  }
  const given = givenOf(inputs)
  return { ...given, ctx: { ...given.ctx, ...ctx } } as Json
}
