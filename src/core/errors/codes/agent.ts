import type { CodeTexts } from '../texts.js'

export const agentCodes = {} as const satisfies CodeTexts
