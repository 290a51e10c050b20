import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The verifier of `verifiers/python`, which knows the specification and none of this code. */

const script = fileURLToPath(new URL('../../verifiers/python/tally_verify.py', import.meta.url))

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** What it says of one snapshot. */
export interface PythonReport {
  readonly file: string
  readonly ok: boolean
  readonly identity: string | null
  readonly failure: {
    readonly field: string
    readonly index: number | null
    readonly where: string
    readonly signed: unknown
    readonly computed: unknown
  } | null
  readonly checked: Readonly<Record<string, number>>
  readonly notChecked: Readonly<Record<string, number>>
  readonly unusableNotes: readonly string[]
}

/** Verifies snapshots in one process. */
export function verifiedByPython(
  files: readonly string[],
  options: readonly string[] = []
): { readonly code: number | null; readonly reports: readonly PythonReport[] } {
  const { error, status, stdout, stderr } = spawnSync(
    'python3',
    [script, '--json', ...options, ...files],
    {
      encoding: 'utf8',
      maxBuffer: OUTPUT_BYTES_MAX
    }
  )
  if (error !== undefined) throw new Error(`python3 is needed: ${error.message}`)
  if (stderr !== '') throw new Error(stderr)
  const reports = stdout.split('\n').filter((line) => line !== '')
  return { code: status, reports: reports.map((line) => JSON.parse(line) as PythonReport) }
}
