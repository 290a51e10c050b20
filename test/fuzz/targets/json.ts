import { isDeepStrictEqual } from 'node:util'
import { encodeRecording, parseRecording } from '../../../src/audit/run-recording.js'
import { readPlainScalar } from '../../../src/core/document/scalar.js'
import { readingYaml } from '../../../src/core/document/yaml.js'
import {
  atOnce,
  CanonicalScan,
  canonicalize,
  exactJson,
  parse,
  placesIn,
  readDocument,
  testingError
} from '../../../src/core/index.js'
import { parseCanonical, readCanonical } from '../../../src/ledger/receipt/parse.js'
import type { FuzzTarget } from '../target.js'

const textOf = (input: Buffer) => input.toString('utf8')

function attempt<Value>(act: () => Value): Value | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

export const jsonTargets: Readonly<Record<string, FuzzTarget>> = {
  'canonical-json': {
    readers: [
      'core/json/parse.ts#parse',
      'ledger/receipt/parse.ts#parseCanonical',
      'ledger/receipt/parse.ts#readCanonical'
    ],
    // One pass over the bytes and the plain way must agree on what is canonical.
    read: (input) => {
      const text = textOf(input)
      const value = attempt(() => parse(text))
      const isCanonical = value !== undefined && attempt(() => canonicalize(value)) === text
      const scanned = new CanonicalScan().read(text)
      if (scanned !== isCanonical) {
        throw new Error(`the scan says ${scanned} and the parser ${isCanonical}`)
      }
      if (
        JSON.stringify(parseCanonical(text)) !== JSON.stringify(isCanonical ? value : undefined)
      ) {
        throw new Error('the canonical reader reads another value')
      }
      if ((readCanonical(text) !== undefined) !== isCanonical) throw new Error('readers differ')
      return isCanonical ? value : parse(text)
    }
  },
  'run-recording': {
    readers: ['audit/run-recording.ts#parseRecording'],
    read: (input) => {
      const parsed = parseRecording(textOf(input))
      if (!parsed.ok) throw testingError('testing.recording_invalid', { path: '-', ...parsed })
      const again = parseRecording(encodeRecording(parsed.recording))
      if (!isDeepStrictEqual(again, parsed)) throw new Error('it is written otherwise')
      return parsed.recording
    }
  },
  'exact-numbers': {
    readers: ['core/json/exact-numbers.ts#exactJson'],
    read: (input) => {
      const text = textOf(input)
      const plain = attempt(() => ({ value: JSON.parse(text) as unknown }))
      const exact = exactJson(text)
      if (plain === undefined) throw new Error('it reads what is not JSON')
      return exact
    },
    expects: (error) => error instanceof SyntaxError
  },
  document: {
    readers: [
      'core/document/read.ts#readDocument',
      'core/document/yaml.ts#readingYaml',
      'core/document/scalar.ts#readPlainScalar'
    ],
    read: (input) => {
      const text = textOf(input)
      readPlainScalar(text.slice(0, 200))
      const value = readDocument(text)
      placesIn(text)(['nodes', 0, 'x'])
      const strict = attempt(() => parse(text))
      if (strict !== undefined && JSON.stringify(value) !== JSON.stringify(strict)) {
        throw new Error('a JSON text reads otherwise as a document')
      }
      attempt(() => atOnce(readingYaml(text)))
      return value
    }
  }
}
