import type { CodeTexts } from '../texts.js'

export const executorCodes = {} as const satisfies CodeTexts
