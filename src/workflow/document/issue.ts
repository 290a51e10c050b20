import { type DocumentPath, type Locate, reported, spendWork } from '../../core/index.js'

/** Stable labels of what can be wrong, or doubtful, in documents and their plan. */
export type IssueCode =
  | 'malformed_document'
  | 'unknown_schema'
  | 'schema_violation'
  | 'too_many_nodes'
  | 'invalid_type'
  | 'invalid_value'
  | 'invalid_expression'
  | 'invalid_default'
  | 'unknown_root'
  | 'unknown_protocol'
  | 'protocol_mismatch'
  | 'integrity_mismatch'
  | 'duplicate_protocol'
  | 'unknown_action'
  | 'unknown_query'
  | 'unknown_asset_param'
  | 'unknown_reference'
  | 'dynamic_reference'
  | 'missing_argument'
  | 'extra_argument'
  | 'abi_mismatch'
  | 'returns_mismatch'
  | 'duplicate_name'
  | 'duplicate_node_id'
  | 'unknown_dep'
  | 'self_dep'
  | 'cycle'
  | 'no_chain'
  | 'no_execution'
  | 'polling_refused'
  | 'missing_query'
  | 'unknown_execution_type'
  | 'pack_mismatch'
  | 'more_findings'
  | 'too_much_work'
  | LintCode

/** Doubts; a document with nothing but these runs. */
export type LintCode =
  | 'recommended_check'
  | 'unit_mismatch'
  | 'skipped_reference'
  | 'missing_default'
  | 'unused_input'
  | 'unused_import'
  | 'unreachable_node'
  | 'unbounded_poll'
  | 'hyphenated_id'
  | 'precision_loss'
  | 'risky_approval'
  | 'contract_not_deployed'

/** One thing wrong (`error`) or doubtful (`warning`, `info`) in a document. Plain JSON. */
export interface Issue {
  readonly code: IssueCode
  readonly severity: 'error' | 'warning' | 'info'
  readonly message: string
  /** Keys from the root of the document it is about. */
  readonly path: DocumentPath
  readonly nodeId?: string
  /** `name@version` of the protocol whose document it is about; absent: the workflow. */
  readonly protocol?: string
  /** From 1; absent without the document's text. */
  readonly line?: number
  readonly column?: number
  /** With `more_findings`, the last of a report: how many it leaves out. */
  readonly more?: number
}

/** Work of one issue. */
const STEPS_OF_ISSUE = 4

type Details = Pick<Issue, 'nodeId' | 'protocol'>

/** Collects issues below one place of a document. */
export class Issues {
  readonly #found: Issue[]
  readonly #at: DocumentPath
  readonly #details: Details

  constructor(found: Issue[] = [], at: DocumentPath = [], details: Details = {}) {
    this.#found = found
    this.#at = at
    this.#details = details
  }

  get list(): readonly Issue[] {
    return this.#found
  }

  get hasErrors(): boolean {
    return this.#found.some(({ severity }) => severity === 'error')
  }

  /** The same list, further down in the document. */
  below(path: DocumentPath, details: Details = {}): Issues {
    return new Issues(this.#found, [...this.#at, ...path], { ...this.#details, ...details })
  }

  /** The same list, for the document of a protocol. */
  of(protocol: string): Issues {
    return new Issues(this.#found, [], { ...this.#details, protocol })
  }

  /** A list that is thrown away: what is wrong is reported elsewhere. */
  silenced(): Issues {
    return new Issues([], this.#at, this.#details)
  }

  error(code: IssueCode, message: string, path: DocumentPath = []): void {
    this.#add('error', code, message, path)
  }

  warn(code: LintCode, message: string, path: DocumentPath = []): void {
    this.#add('warning', code, message, path)
  }

  note(code: LintCode, message: string, path: DocumentPath = []): void {
    this.#add('info', code, message, path)
  }

  #add(severity: Issue['severity'], code: IssueCode, message: string, path: DocumentPath): void {
    spendWork(STEPS_OF_ISSUE)
    this.#found.push({
      code,
      severity,
      message,
      path: [...this.#at, ...path],
      ...this.#details
    })
  }
}

/**
 * Issues as a report shows them: not too many, errors first when there are; with their lines and
 * columns, where the text is known.
 */
export function reportedIssues(found: readonly Issue[], locate?: Locate): readonly Issue[] {
  return reported(found, {
    locate,
    isInText: ({ protocol }) => protocol === undefined,
    isError: ({ severity }) => severity === 'error',
    more: ({ more, message, hasErrors }) => ({
      code: 'more_findings',
      severity: hasErrors ? 'error' : 'info',
      message,
      path: [],
      more
    })
  })
}
