/** One line of the benchmark's output. */
export interface Row {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The same work without an engine, measured in the same run; null where there is none. */
  readonly floor: number | null
  /** `value / floor`, or the factor that the target speaks of. */
  readonly ratio: number | null
  /**
   * What `ratio`, or `value` where there is no ratio, should reach; null for rows that only inform.
   */
  readonly target: number | null
  readonly better: 'higher' | 'lower'
}

/**
 * Rows that are measured together, because their ratios need the same minutes of the same machine.
 */
export interface Group {
  /** Names of its rows. */
  readonly rows: readonly string[]
  measure(options: BenchOptions): Promise<readonly Row[]>
}

export interface BenchOptions {
  /** Full sizes of performance.md instead of those that fit in a few minutes. */
  readonly full: boolean
  /** Rounds of interleaved groups. */
  readonly rounds: number
}

/** Whether a row reaches its target; undefined when it has none. */
export function reaches({ value, ratio, target, better }: Row): boolean | undefined {
  if (target === null) return undefined
  const actual = ratio ?? value
  return better === 'higher' ? actual >= target : actual <= target
}

/** A row that only informs. */
export function shown(name: string, value: number, unit: string, better: Row['better']): Row {
  return { name, value, unit, floor: null, ratio: null, target: null, better }
}

/** A rate against its floor. */
export function against(
  name: string,
  value: number,
  options: { readonly floor: number; readonly target: number | null; readonly unit?: string }
): Row {
  const { floor, target, unit = 'steps/s' } = options
  return { name, value, unit, floor, ratio: value / floor, target, better: 'higher' }
}
