/**
 * The words of a command line, as `parse` reads them: `--help` prints how the program is used, and
 * words that it does not take end it with that and exit code 2.
 */
export function givenWords<Given extends { readonly help: boolean }>(
  usage: string,
  parse: () => Given
): Given {
  try {
    const given = parse()
    if (!given.help) return given
    process.stdout.write(`usage: ${usage}\n`)
    process.exit(0)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${problem}\nusage: ${usage}\n`)
    process.exit(2)
  }
}

/** A whole number from 1. Throws for other text. */
export function countIn(text: string, option: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count > 0) return count
  throw new Error(`--${option} is no whole number from 1: ${text}`)
}
