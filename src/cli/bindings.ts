import { resolve } from 'node:path'
import { AgentParts, type BindingReport } from '../agent/index.js'
import { readDocument } from '../core/index.js'
import { loadConfig } from './frame/config.js'
import { readDocumentFile } from './frame/document-file.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { type Text, text } from './frame/text.js'

type Bound = BindingReport & { readonly ok: true }

/**
 * `tally bindings FLOW`: for each agent node its agent, adapter and settings, and where each comes
 * from. Secrets are shown as references; nothing is run or reached.
 */
export async function bindings(
  frame: Frame,
  file: string,
  options: { readonly config?: string }
): Promise<ExitCode> {
  const { output } = frame
  const { document } = await readDocumentFile(frame, file)
  const { config } = options
  const given = config === undefined ? {} : await loadConfig(frame, resolve(frame.cwd, config))
  const parts = new AgentParts(given.agents)
  const report = parts.bindings(readDocument(document))
  output.document('bindings', { file, ...report })
  for (const { severity, code, message, path } of report.findings) {
    const mark =
      severity === 'error' ? output.paint('red', 'error') : output.paint('yellow', 'warning')
    output.line(text`${mark} ${file}: ${path.join('.')} ${message} [${code}]`)
  }
  if (!report.ok) return exitCodes.usage
  for (const line of nodeLines(frame, report)) output.line(line)
  const isSound = report.nodes.every(({ problems }) => problems.length === 0)
  return isSound ? exitCodes.done : exitCodes.usage
}

function nodeLines({ output: { paint } }: Frame, { nodes }: Bound): readonly Text[] {
  return nodes.flatMap((node) => {
    const { nodeId, via, agentId, sourcePath, adapterKind, settings, tools, problems } = node
    const from = sourcePath === null ? 'agents.agentDefs' : sourcePath
    return [
      text`${paint('bold', nodeId)} -> ${via} ${agentId} (${from}) -> adapter ${adapterKind}`,
      ...settings.map(({ name, value, source }) => text`  ${name} ${`${value}`} from ${source}`),
      ...tools.map(({ name, needsApproval, approvers }) => {
        const signed =
          approvers && `asks ${approvers.threshold} of ${approvers.keys.length} approvers`
        const asked = signed ?? (needsApproval ? 'asks a person first' : 'asks no one')
        return text`  tool ${name} ${asked}`
      }),
      ...problems.map((problem) => text`  ${paint('red', 'problem')} ${problem}`)
    ]
  })
}
