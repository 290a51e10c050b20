import type { DocumentPath } from '../../block/index.js'

/** What is wrong (`error`) or doubtful (`warning`) in a flow, and where. */
export interface FlowFinding {
  readonly code: FlowFindingCode
  readonly severity: 'error' | 'warning'
  /** Keys from the root of the document. */
  readonly path: DocumentPath
  readonly message: string
  /** In a note about findings that are not listed: how many. */
  readonly more?: number
}

/** Stable codes; the first nine are those of AgentsFlow. */
export type FlowFindingCode =
  | 'start_node_not_found'
  | 'edge_source_not_found'
  | 'edge_target_not_found'
  | 'edge_port_not_found'
  | 'port_type_mismatch'
  | 'duplicate_node_id'
  | 'duplicate_port_id'
  | 'unreachable_node'
  | 'required_input_disconnected'
  | 'invalid_document'
  | 'unsupported_version'
  | 'unknown_node_kind'
  | 'duplicate_agent_id'
  | 'self_edge'
  | 'duplicate_edge'
  | 'input_has_many_sources'
  | 'secret_not_reference'
  | 'secret_not_allowed'
  | 'settings_incomplete'
  | 'reserved_key'
  | 'agent_not_bound'
  | 'agent_not_found'
  | 'agent_asset_invalid'
  | 'adapter_not_found'
  | 'tool_not_found'
  | 'tool_policy_not_enforceable'
  | 'tools_not_bounded'
  | 'cost_not_measurable'
  | 'adapter_not_allowed'
  | 'server_not_allowed'
  | 'tool_not_allowed'
  | 'loader_not_allowed'
  | 'approval_below_floor'
  | 'turn_not_written_out'
  | 'no_finish'
  | 'loop_without_end'

export function error(code: FlowFindingCode, path: DocumentPath, message: string): FlowFinding {
  return { code, severity: 'error', path, message }
}

export function warning(code: FlowFindingCode, path: DocumentPath, message: string): FlowFinding {
  return { code, severity: 'warning', path, message }
}

/** The note of a list that leaves findings out, of which some are errors. */
export function moreFindings(more: number): FlowFinding {
  return { ...error('invalid_document', [], `${more} more findings`), more }
}

export function hasErrors(findings: readonly FlowFinding[]): boolean {
  return findings.some(({ severity }) => severity === 'error')
}
