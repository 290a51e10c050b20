import type { CodeTexts } from '../texts.js'

export const cliCodes = {
  'cli.usage': {
    message: 'The command cannot be used like this: {problem}.',
    fix: 'See "tally help", or "tally help COMMAND" for one command.'
  },
  'cli.unreadable_file': {
    message: 'The file {path} cannot be read: {problem}.',
    fix: 'Check the path and its permissions.'
  },
  'cli.invalid_config': {
    message: 'The configuration {path} cannot be used: {problem}.',
    fix: 'Export what defineConfig gives by default; docs/guide.md shows one.'
  },
  'cli.unsafe_config': {
    message:
      'The configuration {path} is not loaded, since it may be from another user: {problem}.',
    fix: 'See what it says. If it is yours, make it so: "chown" to you, and "chmod go-w" for it and its directory.'
  },
  'cli.private_run': {
    message: 'The recording of run {run} would have in clear what is private: {problem}.',
    fix: 'Give --private to write it all the same, and keep the file as you keep the ledger.'
  },
  'cli.note_inside': {
    message: 'The note {path} lies in the directory of the ledger that it is to anchor.',
    fix: 'Use a note that was kept elsewhere: a writer of the ledger could change this one too.'
  },
  'cli.directory_not_empty': {
    message: 'The directory {path} is not empty, so nothing is written into it.',
    fix: 'Give the name of a directory that does not exist yet, or empty this one.'
  },
  'cli.ambiguous_wait': {
    message: 'Run {runId} has {count} open waits.',
    fix: 'Name the one you mean by its token; "tally show {runId}" lists them.'
  },
  'cli.no_wait': {
    message: 'Run {runId} waits for no such answer: {problem}.',
    fix: 'See what it waits for with "tally show {runId}".'
  }
} as const satisfies CodeTexts
