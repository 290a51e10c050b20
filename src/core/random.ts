import { randomBytes, randomUUID } from 'node:crypto'

/** The only source of unpredictable values (ids that a caller did not give, salts, keys). */
export interface Random {
  bytes(length: number): Uint8Array
  uuid(): string
}

export const systemRandom: Random = {
  bytes: (length) => randomBytes(length),
  uuid: () => randomUUID()
}
