import {
  type DocumentPath,
  FirstFindings,
  type Locate,
  type Pieces,
  reporting,
  spendWork
} from '../../core/index.js'

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
  | 'plan_mismatch'
  | 'owners_alone'
  | 'test_failed'
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
  | 'unmeasured_bound'
  | 'hyphenated_id'
  | 'precision_loss'
  | 'risky_approval'
  | 'contract_not_deployed'
  | 'not_checked'
  | 'fails_when_run'
  | 'other_chain'

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

/** The issues of one reading, as far as a report shows them, and how many more there are. */
export class IssueList {
  readonly #errors = new FirstFindings<Issue>()
  readonly #doubts = new FirstFindings<Issue>()

  get hasErrors(): boolean {
    return !this.#errors.isEmpty
  }

  get all(): readonly Issue[] {
    const noteOf = (severity: Issue['severity']) => (more: number) => moreIssues(more, severity)
    return [...this.#errors.list(noteOf('error')), ...this.#doubts.list(noteOf('info'))]
  }

  add(issue: Issue): void {
    if (issue.severity === 'error') this.#errors.add(issue)
    else this.#doubts.add(issue)
  }
}

/** The note of a list that leaves issues out. */
export function moreIssues(more: number, severity: Issue['severity']): Issue {
  const message = `${more} more findings are not shown`
  return { code: 'more_findings', severity, path: [], message, more }
}

/** Collects issues below one place of a document. */
export class Issues {
  readonly #found: IssueList
  readonly #at: DocumentPath
  readonly #details: Details

  constructor(found = new IssueList(), at: DocumentPath = [], details: Details = {}) {
    this.#found = found
    this.#at = at
    this.#details = details
  }

  get list(): readonly Issue[] {
    return this.#found.all
  }

  get hasErrors(): boolean {
    return this.#found.hasErrors
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
    return new Issues(new IssueList(), this.#at, this.#details)
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
    this.#found.add({
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
export function* reportingIssues(
  found: readonly Issue[],
  locate?: Locate
): Pieces<readonly Issue[]> {
  return yield* reporting(found, {
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
