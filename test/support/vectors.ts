import { readFileSync, writeFileSync } from 'node:fs'

/** Whether the committed files are written anew. */
export const isUpdate = process.env['UPDATE_VECTORS'] === '1'

/**
 * The committed vectors of a format. `UPDATE_VECTORS=1` writes them anew from `make`: only when a
 * format changes on purpose, since old ledgers hold the old bytes.
 */
export function committedVectors<Vector>(
  fileName: string,
  make: () => readonly Vector[]
): readonly Vector[] {
  const file = new URL(`../vectors/${fileName}`, import.meta.url)
  if (isUpdate) {
    const lines = make().map((vector) => JSON.stringify(vector))
    writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`)
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}
