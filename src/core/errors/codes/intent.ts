import type { CodeTexts } from '../texts.js'

export const intentCodes = {} as const satisfies CodeTexts
