import {
  type BlockRegistry,
  type CompiledDocument,
  type CompositeDefinition,
  compileDocument,
  type DocumentDefinition,
  drawChart,
  drawGraph,
  drawSource
} from '../block/index.js'
import { cliError, type Json, readDocument } from '../core/index.js'
import { loadExpressions } from '../expression/index.js'
import { refuseInvalid, showProblems } from './frame/document.js'
import { type DocumentFile, readDocumentFile } from './frame/document-file.js'
import { readInput } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { bundleOf, checkAis, isAisText, type WorkflowOptions } from './frame/workflow.js'

const formats = ['mermaid', 'chart', 'json', 'xstate'] as const
type Format = (typeof formats)[number]

export interface GraphOptions extends WorkflowOptions {
  readonly format: string
}

/**
 * `tally graph FILE`: the graph as Mermaid text, the whole chart (`chart`), its JSON, or source
 * that Stately's editor imports. Needs no configuration: what names lead to is not part of the
 * picture. A workflow of AIS is drawn as the plan that it becomes, for which it needs its
 * protocols.
 */
export async function graph(frame: Frame, file: string, options: GraphOptions): Promise<ExitCode> {
  const format = formatOf(options.format)
  const { output } = frame
  const read = await readDocumentFile(frame, file)
  const definition = (await isAisText(read.document))
    ? await workflowIn(frame, file, options)
    : await documentIn(frame, file, read)
  if (definition === undefined) return exitCodes.usage
  const result = compileDocument(definition, {
    registry: anyNames,
    expressions: await loadExpressions()
  })
  if (!result.ok) {
    showProblems(frame, file, result.diagnostics)
    output.document('invalid', { file, problems: result.diagnostics })
    return exitCodes.usage
  }
  const drawing = draw(format, result.compiled)
  const content: Json = format === 'json' ? (JSON.parse(drawing) as Json) : drawing
  output.document('graph', { file, name: definition.name, format, content })
  output.file(drawing)
  return exitCodes.done
}

/** What a file defines; undefined when it is invalid, and its problems are shown. */
async function documentIn(
  frame: Frame,
  file: string,
  read: DocumentFile
): Promise<DocumentDefinition | undefined> {
  if ((await refuseInvalid(frame, file, read)) !== undefined) return undefined
  const { parseDocument } = await import('../runtime/index.js')
  const parsed = await parseDocument(readDocument(read.document))
  return parsed.ok ? parsed.definition : undefined
}

/** The same of a workflow of AIS, with the protocols and packs that it is given. */
async function workflowIn(
  frame: Frame,
  file: string,
  options: WorkflowOptions
): Promise<DocumentDefinition | undefined> {
  const text = await readInput(frame, file)
  const { read, problems } = await checkAis(frame, file, text, options)
  const errors = problems.filter(({ reason }) => reason !== 'lint')
  const { parseWorkflow } = await import('../runtime/index.js')
  const parsed = await parseWorkflow(readDocument(await bundleOf(read, options)))
  if (errors.length === 0 && parsed.ok) return parsed.definition
  const shown = errors.length > 0 || parsed.ok ? errors : parsed.diagnostics
  showProblems(frame, file, shown)
  frame.output.document('invalid', { file, problems: shown })
  return undefined
}

function draw(format: Format, compiled: CompiledDocument): string {
  if (format === 'mermaid') return drawGraph(compiled)
  if (format === 'json') return JSON.stringify(compiled.config, null, 2)
  return format === 'chart' ? drawChart(compiled.config) : drawSource(compiled.config)
}

function formatOf(given: string): Format {
  const format = formats.find((one) => one === given)
  if (format !== undefined) return format
  throw cliError('cli.usage', { problem: `--format is one of ${formats.join(', ')}` })
}

/**
 * Every name leads somewhere: a picture shows the name only. What blocks do outside is not known
 * here, so it refuses no document, atomic ones included; `tally lint --config` checks that.
 */
const anyNames: BlockRegistry = {
  block: (name) => ({ name, version: 'any', sideEffects: 'none' }),
  composite: (name) => placeholder(name),
  condition: () => () => false,
  repair: () => (request) => request
}

function placeholder(name: string): CompositeDefinition {
  const node = {
    work: { kind: 'block', block: name },
    context: [],
    recovery: [],
    onError: 'stop'
  } as const
  return {
    name,
    version: 'any',
    maxSteps: 1,
    atomic: false,
    entryPoint: 'composite',
    nodes: { composite: node },
    transitions: {}
  }
}
