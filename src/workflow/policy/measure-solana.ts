import { type JsonObject, shownText } from '../../core/index.js'
import { plainInstruction } from '../../executor/index.js'
import type { Measured } from './effect.js'
import { isKnownProgram, solanaEffects } from './solana-calls.js'

/** What a write on a Solana chain does, by the bytes of its instruction. */
export function measureSolana(
  chain: string,
  execution: JsonObject & { readonly type: string }
): Measured {
  const instruction = plainInstruction(execution)
  if (instruction === undefined) {
    const program = shownText(execution['program']).slice(0, SHOWN_LETTERS)
    return { effects: [], undecoded: [`an instruction of ${program}`] }
  }
  const effects = solanaEffects(chain, instruction)
  if (effects !== undefined) return { effects, undecoded: [] }
  const { data, program } = instruction
  const front = Buffer.from(data.subarray(0, SHOWN_BYTES)).toString('hex')
  return { effects: [], undecoded: [`0x${front} of ${program}`] }
}

const SHOWN_BYTES = 8
const SHOWN_LETTERS = 64

/** The program of a write that is not in the table, before it is resolved. */
export function unknownSolana(execution: object): string | undefined {
  const { program } = execution as { readonly program?: { readonly lit?: unknown } }
  const name = program?.lit
  if (name === undefined) return undefined
  const isKnown = typeof name === 'string' && isKnownProgram(name)
  return isKnown ? undefined : `an instruction of ${shownText(name).slice(0, SHOWN_LETTERS)}`
}
