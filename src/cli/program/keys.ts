import type { Add } from './add.js'

/** Commands about the key of a ledger, below `tally key`. */
export function addKeyCommands(add: Add): void {
  const loaded = () => import('../key.js')
  add('rotate', 'sign with a new key from now on', async () => (await loaded()).rotateKey)
  add(
    'revoke [key]',
    'distrust a replaced key, or replace the one in force',
    async () => (await loaded()).revokeKey
  )
}
