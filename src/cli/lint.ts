import { resolve } from 'node:path'
import { isJsonObject, isTallyError, placesIn, readDocument } from '../core/index.js'
import { inspectLocation } from '../ledger/index.js'
import { connectOwner } from '../owner/index.js'
import { ownerClient } from './frame/client.js'
import { loadConfig } from './frame/config.js'
import { checkDocument, type Problem, showProblems } from './frame/document.js'
import { readDocumentFile } from './frame/document-file.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { text } from './frame/text.js'
import { checkAis, isAisText, type WorkflowOptions } from './frame/workflow.js'

/**
 * `tally lint FILE`: what is wrong or doubtful in a document. What its names lead to is looked up
 * in `--config`, or in the service that holds the ledger. Without either its expressions, values
 * and references are checked, and each name that is not is listed.
 */
export async function lint(
  frame: Frame,
  file: string,
  options: WorkflowOptions & { readonly config?: string }
): Promise<ExitCode> {
  const { output } = frame
  const { document, source } = await readDocumentFile(frame, file)
  if (await isAisText(document)) return lintAis(frame, file, document, options)
  const problems = [...(await checkDocument(document, source))]
  const isSound = problems.every(({ reason }) => reason === 'lint')
  const named = isSound ? await checkNames(frame, document, options.config) : undefined
  const alone = named === undefined && isSound ? await checkUnnamed(document, source) : undefined
  for (const found of named ?? alone?.problems ?? []) {
    if (!problems.some((one) => isSame(one, found))) problems.push(found)
  }
  const errors = problems.filter(({ reason }) => reason !== 'lint').length
  const unread = 'what its names lead to, until the errors are corrected'
  const notChecked = named !== undefined ? [] : (alone?.notChecked ?? [unread])
  output.document('lint', { file, ok: errors === 0, problems, notChecked })
  showProblems(frame, file, problems)
  const warnings = problems.length - errors
  output.line(text`${file}: ${errors} errors, ${warnings} warnings`)
  for (const one of notChecked) {
    output.line(text`${output.paint('yellow', 'not checked')} ${one}: give --config`)
  }
  return errors === 0 ? exitCodes.done : exitCodes.usage
}

/** A workflow with the protocols that it imports or that are given, a protocol, or a pack. */
async function lintAis(
  frame: Frame,
  file: string,
  document: string,
  options: WorkflowOptions
): Promise<ExitCode> {
  const { output } = frame
  const { problems } = await checkAis(frame, file, document, options)
  const errors = problems.filter(({ reason }) => reason !== 'lint').length
  const notChecked =
    options.config === undefined
      ? ['whether an executor of the host serves its chains, and what policies of the host say']
      : []
  output.document('lint', { file, ok: errors === 0, problems, notChecked })
  showProblems(frame, file, problems)
  output.line(text`${file}: ${errors} errors, ${problems.length - errors} warnings`)
  for (const one of notChecked) {
    output.line(text`${output.paint('yellow', 'not checked')} ${one}: give --config`)
  }
  return errors === 0 ? exitCodes.done : exitCodes.usage
}

function isSame(one: Problem, other: Problem): boolean {
  return one.message === other.message && one.path.join() === other.path.join()
}

/** What a document says by itself, and what of it only a configuration can tell. */
async function checkUnnamed(
  document: string,
  source: string
): Promise<{ readonly problems: readonly Problem[]; readonly notChecked: readonly string[] }> {
  const { checkAlone, parseDocument } = await import('../runtime/index.js')
  const value = readDocument(document)
  const parsed = await parseDocument(value)
  if (!parsed.ok) return { problems: [], notChecked: [] }
  const isOwn = isJsonObject(value) && String(value['schema']).startsWith('tally-')
  if (!isOwn) return { problems: [], notChecked: ['the agents that its bindings name'] }
  const { diagnostics, names } = await checkAlone(parsed.definition)
  const place = placesIn(source)
  const problems = diagnostics.map((found) => ({ ...found, ...place(found.path) }))
  const { blocks, conditions, documents, repairs } = names
  const notChecked = [
    ...listed('that there are the blocks', blocks),
    ...listed('what inputs these blocks take and what they give, of', blocks),
    ...listed('that there are the documents', documents),
    ...listed('that there are the conditions', conditions),
    ...listed('that there are the repairs', repairs)
  ]
  return { problems, notChecked }
}

function listed(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${what} ${names.join(', ')}`]
}

async function checkNames(
  frame: Frame,
  document: string,
  config: string | undefined
): Promise<readonly Problem[] | undefined> {
  if (config !== undefined) {
    const registrations = await loadConfig(frame, resolve(frame.cwd, config))
    const { createRuntime, MEMORY_LOCATION } = await import('../runtime/index.js')
    await using tally = await createRuntime({ location: MEMORY_LOCATION, ...registrations })
    return await tally.lint(document)
  }
  const found = await inspectLocation(frame.directory).catch(() => undefined)
  // A holder that serves nothing knows no more of blocks than this command.
  const owner = await (found && connectOwner(found.realPath).catch(unlessLocked))
  if (owner === undefined) return undefined
  try {
    return (await ownerClient(owner).request('lint', { document })).diagnostics
  } finally {
    owner.close()
  }
}

function unlessLocked(error: unknown): undefined {
  if (!isTallyError(error, 'ledger.locked')) throw error
}
