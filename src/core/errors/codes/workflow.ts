import type { CodeTexts } from '../texts.js'

export const workflowCodes = {} as const satisfies CodeTexts
