import { canonicalString } from '../../core/index.js'
import type { RunFinished, RunStarted } from './entries.js'

/** Entries written from texts at hand: a run of one unit of work begins and ends in one commit. */

/** `encodeEntry` of the first entry, from texts that were written before. */
export function encodeStarted(
  entry: Pick<RunStarted, 'at' | 'base' | 'definitionHash' | 'inputHash' | 'name' | 'run'>,
  texts: {
    readonly definition: string
    readonly input: string
    readonly principal: string
    /** Undefined when it is empty. */
    readonly context: string | undefined
    readonly trace: string | undefined
  }
): string {
  const { at, base, definitionHash, inputHash, name, run } = entry
  const trace = texts.trace === undefined ? '' : `,"trace":${texts.trace}`
  const context = texts.context === undefined ? '' : `"context":${texts.context},`
  return (
    `{"at":${at},"base":"${base}",${context}"definition":${texts.definition},` +
    `"definitionHash":"${definitionHash}","input":${texts.input},"inputHash":"${inputHash}",` +
    `"k":"run.started","n":0,"name":${canonicalString(name)},"principal":${texts.principal},` +
    `"run":${canonicalString(run)},"status":"running"${trace}}`
  )
}

/** `encodeEntry` of the end of a run that succeeded, from the canonical text of its data. */
export function encodeDone(
  { at, journalHash, n, run }: Pick<RunFinished, 'at' | 'journalHash' | 'n' | 'run'>,
  dataText: string
): string {
  // It is kept until it is derived: joined, so that its parts are not.
  return [
    `{"at":${at},"journalHash":"`,
    journalHash,
    `","k":"run.finished","n":${n},"response":{"data":`,
    dataText,
    ',"metadata":{},"success":true},"run":',
    canonicalString(run),
    ',"status":"done"}'
  ].join('')
}
