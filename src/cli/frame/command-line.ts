import { escapeText, Text } from './text.js'

/**
 * Commands that are shown, so that they work as they stand: on the ledger and the configuration of
 * the command that shows them.
 */

/** Options that name a ledger and a configuration, with what was given for each. */
export type GivenOptions = readonly (readonly [option: string, value: string])[]

/** Whether the command that words begin with has an option. */
export type TakesOption = (words: readonly string[], option: string) => boolean

/** What is known where a command is shown. */
export interface ShownCommands {
  readonly given: GivenOptions
  readonly takes: TakesOption
}

/** A command as it would be typed: words quoted for a shell where they must be. */
export function commandLine(
  { commands }: { readonly commands: ShownCommands },
  words: readonly string[]
): string {
  return `tally ${[...words.map(shellWord), ...missing(commands, words)].join(' ')}`
}

/** A {@link commandLine} below what it belongs to. */
export function commandText(
  frame: { readonly commands: ShownCommands },
  words: readonly string[]
): Text {
  return new Text(`  ${commandLine(frame, words)}`)
}

/** A sentence whose commands, each in quotes, are completed as {@link commandLine} does. */
export function completed(commands: ShownCommands, sentence: string): string {
  return sentence.replace(/(["`])(tally [^"`\n]+)\1/g, (_, quote: string, quoted: string) => {
    const shown = quoted.split(' && ').map((command) => {
      const [program, ...words] = command.split(' ')
      return program === 'tally' ? [command, ...missing(commands, words)].join(' ') : command
    })
    return `${quote}${shown.join(' && ')}${quote}`
  })
}

/** The options that a command lacks, as they would be typed. */
function missing({ given, takes }: ShownCommands, words: readonly string[]): readonly string[] {
  return given
    .filter(([option]) => !words.includes(option) && takes(words, option))
    .flatMap((pair) => pair.map(shellWord))
}

function shellWord(word: string): string {
  if (/^[\w./:@%+=,-]+$/.test(word)) return word
  // Escaped first, so that what is shown is one line; such a word cannot be typed anyway.
  return `'${escapeText(word).replaceAll("'", `'\\''`)}'`
}
