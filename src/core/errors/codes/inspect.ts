import type { CodeTexts } from '../texts.js'

/** Codes of the rooms `inspect`, `telemetry` and `console`. */
export const inspectCodes = {
  'inspect.missing_library': {
    message: 'The library {library} is needed and not installed.',
    fix: 'Install it beside tallystick: npm install {library}.'
  },
  'console.refused': {
    message: 'The request is refused: {problem}.',
    fix: 'Open the console by the link that the command prints; "tally inspect" prints a new one.'
  },
  'console.not_found': {
    message: 'The console has nothing at {path}.',
    fix: 'See docs/console.md for its addresses.'
  },
  'console.read_only': {
    message: 'This console shows the ledger and changes nothing: {method} is not done.',
    fix: 'Start "tally inspect" without --read-only, or use the command line.'
  },
  'console.busy': {
    message: 'The console has {limit} requests under way.',
    fix: 'Close other tabs of it, or wait for what they ask.'
  },
  'console.unusable_page': {
    message: 'The files of the page at {path} cannot be served: {problem}.',
    fix: 'Install tallystick again; where it was built from sources, run "npm run build".'
  },
  'console.port_taken': {
    message: 'The console cannot listen on port {port}: {problem}.',
    fix: 'Give --port another number, or leave it out for one that is free.'
  },
  'telemetry.missing_library': {
    message: 'Telemetry needs the library {library}, which is not installed.',
    fix: 'Install it beside tallystick: npm install {library}.'
  }
} as const satisfies CodeTexts
