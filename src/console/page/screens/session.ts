import { signal } from '@preact/signals'
import type { Session } from '../client/api.js'

/** What this page may do; null until it is known. */
export const session = signal<Session | null>(null)
