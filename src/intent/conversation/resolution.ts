import type { Intent } from '../intent.js'

/** What a text came to (K11). */
export type Resolution =
  | {
      readonly kind: 'intent'
      readonly intent: Intent
      /** `kernel`: a fixed pattern; `provider`: an AI provider; `chat`: neither, so `ai.chat`. */
      readonly by: 'kernel' | 'provider' | 'chat'
    }
  /** It asks for what text never has the right to (K13). */
  | { readonly kind: 'refused'; readonly action: string; readonly instead: string }
