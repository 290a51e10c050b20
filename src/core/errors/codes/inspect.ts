import type { CodeTexts } from '../texts.js'

/** Codes of the room `inspect`. */
export const inspectCodes = {
  'inspect.missing_library': {
    message: 'The library {library} is needed and not installed.',
    fix: 'Install it beside tallystick: npm install {library}.'
  }
} as const satisfies CodeTexts
