import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/source.js'

/** Inputs that are kept: what valid ones look like, and every input that has found a fault. */
const folderOf = (target: string) => join(root, 'test', 'fuzz', 'corpus', target)

export function corpusOf(target: string): readonly Buffer[] {
  return readdirSync(folderOf(target))
    .sort()
    .map((name) => readFileSync(join(folderOf(target), name)))
}

/** Keeps an input under its hash; gives the path from the root. */
export function keep(target: string, input: Buffer): string {
  const name = `${createHash('sha256').update(input).digest('hex').slice(0, 16)}.bin`
  mkdirSync(folderOf(target), { recursive: true })
  writeFileSync(join(folderOf(target), name), input)
  return `test/fuzz/corpus/${target}/${name}`
}

export const corpora = (): readonly string[] =>
  readdirSync(join(root, 'test', 'fuzz', 'corpus')).sort()
