import type { Command } from 'commander'
import { cliError } from '../core/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'

/**
 * Scripts that complete the words of the command line, made of its own commands and options, so
 * that they name what this version has and nothing else.
 */

interface Described {
  readonly name: string
  readonly about: string
}

/** A command by the words that lead to it: what may follow them. */
interface Level {
  /** Empty for the program itself. */
  readonly path: string
  readonly commands: readonly Described[]
  readonly options: readonly Described[]
}

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** `tally completion SHELL`: prints the script of a shell. Throws `cli.usage` for others. */
export async function completion(frame: Frame, shell: string, program: Command): Promise<ExitCode> {
  if (!isShell(shell)) {
    const known = Object.keys(shells).join(', ')
    const problem = `No completion for "${shell}": there is one for ${known}`
    throw cliError('cli.usage', { problem })
  }
  const script = shells[shell](levelsOf(program, ''))
  frame.output.document('completion', { shell, script })
  frame.output.file(script)
  return exitCodes.done
}

function isShell(shell: string): shell is keyof typeof shells {
  return Object.hasOwn(shells, shell)
}

function levelsOf(command: Command, path: string): readonly Level[] {
  const commands = command.commands.map((child) => ({
    name: child.name(),
    about: child.description()
  }))
  const options = [
    ...command.options.map(({ long, short, description }) => ({
      name: long ?? short ?? '',
      about: description
    })),
    { name: '--help', about: 'show what it does' }
  ]
  const below = command.commands.flatMap((child) =>
    levelsOf(child, `${path} ${child.name()}`.trim())
  )
  return [{ path, commands, options }, ...below]
}

const namesOf = (level: Level) => [...level.commands, ...level.options].map(({ name }) => name)

/** In single quotes, as all three shells read them. */
const quoted = (text: string) => `'${text.replaceAll("'", '’')}'`

/**
 * The words before the one that is completed lead to a command where each names one; anything else
 * is an argument or an option, and files complete arguments.
 */
function bashScript(levels: readonly Level[]): string {
  const paths = levels.filter(({ path }) => path !== '').map(({ path }) => path)
  const wordsOf = (level: Level) => `words=${quoted(namesOf(level).join(' '))}`
  return `# tally: completion for bash; eval "$(tally completion bash)"
_tally() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word next
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in
      ${paths.map(quoted).join('|')}) path="$next" ;;
    esac
  done
  local words=""
  case "$path" in
${levels.map((level) => `    ${quoted(level.path)}) ${wordsOf(level)} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _tally tally tallystick`
}

function zshScript(levels: readonly Level[]): string {
  const described = (level: Level) =>
    [...level.commands, ...level.options]
      .map(({ name, about }) => quoted(`${name}:${about.replaceAll(':', ' -')}`))
      .join(' ')
  const paths = levels.filter(({ path }) => path !== '').map(({ path }) => path)
  return `#compdef tally tallystick
# tally: completion for zsh; eval "$(tally completion zsh)"
_tally() {
  local path_of="" word next
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${path_of:+$path_of }$word"
    case "$next" in
      ${paths.map(quoted).join('|')}) path_of="$next" ;;
    esac
  done
  case "$path_of" in
${levels.map((level) => `    ${quoted(level.path)}) found=(${described(level)}) ;;`).join('\n')}
  esac
  _describe 'tally' found
  _files
}
compdef _tally tally tallystick`
}

function fishScript(levels: readonly Level[]): string {
  const lines = levels.flatMap(({ path, commands, options }) => {
    const words = path.split(' ').filter((word) => word !== '')
    const names = commands.map(({ name }) => name).join(' ')
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`)
    const open = names === '' ? [] : [`not __fish_seen_subcommand_from ${names}`]
    const when = [...seen, ...open].join('; and ')
    const condition = when === '' ? '' : ` -n ${quoted(when)}`
    return [
      ...commands.map(
        ({ name, about }) => `complete -c tally${condition} -f -a ${name} -d ${quoted(about)}`
      ),
      ...options.map(
        ({ name, about }) => `complete -c tally${condition} -l ${name.slice(2)} -d ${quoted(about)}`
      )
    ]
  })
  return ['# tally: completion for fish; tally completion fish | source', ...lines].join('\n')
}
