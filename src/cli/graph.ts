import {
  type BlockRegistry,
  type CompiledDocument,
  type CompositeDefinition,
  compileDocument,
  drawChart,
  drawGraph,
  drawSource
} from '../block/index.js'
import { type Json, readDocument, TallyError } from '../core/index.js'
import { loadExpressions } from '../expression/index.js'
import { refuseInvalid, showProblems } from './frame/document.js'
import { readDocumentFile } from './frame/document-file.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { isAisText } from './frame/workflow.js'

const formats = ['mermaid', 'chart', 'json', 'xstate'] as const
type Format = (typeof formats)[number]

/**
 * `tally graph FILE`: the graph as Mermaid text, the whole chart (`chart`), its JSON, or source
 * that Stately's editor imports. Needs no configuration: what names lead to is not part of the
 * picture.
 */
export async function graph(
  frame: Frame,
  file: string,
  options: { readonly format: string }
): Promise<ExitCode> {
  const format = formatOf(options.format)
  const { output } = frame
  const read = await readDocumentFile(frame, file)
  const { document } = read
  if (await isAisText(document)) {
    throw new TallyError('cli.usage', { problem: 'a workflow of AIS is drawn by "tally plan"' })
  }
  const refused = await refuseInvalid(frame, file, read)
  const { parseDocument } = await import('../runtime/index.js')
  const parsed = await parseDocument(readDocument(document))
  if (refused !== undefined || !parsed.ok) return refused ?? exitCodes.usage
  const { definition } = parsed
  const result = compileDocument(definition, {
    registry: anyNames,
    expressions: await loadExpressions()
  })
  if (!result.ok) {
    showProblems(frame, file, result.diagnostics)
    output.document('invalid', { file, problems: result.diagnostics })
    return exitCodes.usage
  }
  const { config } = result.compiled
  const drawing =
    format === 'json' ? JSON.stringify(config, null, 2) : draw(format, result.compiled)
  const content: Json | typeof config = format === 'json' ? config : drawing
  output.document('graph', { file, name: definition.name, format, content })
  output.file(drawing)
  return exitCodes.done
}

function draw(format: Exclude<Format, 'json'>, compiled: CompiledDocument): string {
  if (format === 'mermaid') return drawGraph(compiled)
  return format === 'chart' ? drawChart(compiled.config) : drawSource(compiled.config)
}

function formatOf(given: string): Format {
  const format = formats.find((one) => one === given)
  if (format !== undefined) return format
  throw new TallyError('cli.usage', { problem: `--format is one of ${formats.join(', ')}` })
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
