import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseManifest as parseAssets } from '../../../src/agent/assets/parse-manifest.js'
import { parsingFlow as parsingAgentsFlow } from '../../../src/agent/flow/parse.js'
import { parseComposite, parsePlan } from '../../../src/block/document/parse.js'
import { parseManifest } from '../../../src/capability/index.js'
import { openPackage } from '../../../src/capability/packages/package.js'
import { parseRequest, parseSignature } from '../../../src/cli/frame/approval-files.js'
import { readJson } from '../../../src/cli/frame/files.js'
import { createFrame } from '../../../src/cli/frame/frame.js'
import { defineBlock } from '../../../src/code/index.js'
import { atOnce, type Json, readDocument } from '../../../src/core/index.js'
import { loadExpressions } from '../../../src/expression/index.js'
import { parseReference } from '../../../src/expression/reference.js'
import { kernelResolution } from '../../../src/intent/conversation/kernel-patterns.js'
import { parseGraph } from '../../../src/intent/graph/parse.js'
import { parseIntent } from '../../../src/intent/intent.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../../../src/runtime/index.js'
import {
  parsePack,
  parseProtocol,
  parseFlow as parseWorkflow
} from '../../../src/workflow/document/parse.js'
import { parsePatches } from '../../../src/workflow/readiness/patch.js'
import { parseType } from '../../../src/workflow/type/type.js'
import { aisText } from '../../support/ais.js'
import { root } from '../../support/source.js'
import type { FuzzTarget } from '../target.js'

const textOf = (input: Buffer) => input.toString('utf8')

/** A reader of a document's value: the text is read first, as everywhere. */
function document(readers: readonly string[], read: (document: Json) => unknown): FuzzTarget {
  return { readers, read: (input) => read(readDocument(textOf(input))) }
}

/** A reader of a document that the runtime checks as a whole, and compiles. */
function linted(readers: readonly string[], read?: (document: Json) => unknown): FuzzTarget {
  return {
    readers,
    isSlow: true,
    read: async (input) => {
      read?.(readDocument(textOf(input)))
      return (await runtimeOfTargets()).lint(textOf(input))
    }
  }
}

const names = ['load', 'pick', 'pay', 'book', 'report'].map((name) => `invoices.${name}`)

let opened: Promise<WiredRuntime> | undefined
/** One runtime for all cases: reading a document leaves nothing behind. */
export function runtimeOfTargets(): Promise<WiredRuntime> {
  opened ??= createRuntime({
    location: MEMORY_LOCATION,
    create: 'if-absent',
    // What the documents of the corpus name, so that their mutants are compiled.
    blocks: names.map((name) => defineBlock({ name, version: '1', run: () => null })),
    workflow: {
      protocols: [
        aisText('erc20'),
        ...['erc20', 'bridge'].map((name) =>
          readFileSync(join(root, `examples/03-evm-transfer/${name}.yaml`), 'utf8')
        )
      ]
    }
  })
  return opened
}

export async function closeTargets(): Promise<void> {
  await (await opened)?.close()
}

const expressions = await loadExpressions()
const frame = createFrame(
  {},
  {
    stdout: { write: () => true },
    stderr: { write: () => true },
    environment: {},
    cwd: '/nonexistent'
  }
)

export const documentTargets: Readonly<Record<string, FuzzTarget>> = {
  composite: linted(
    [
      'block/document/parse.ts#parseComposite',
      'runtime/document/document-kinds.ts#readingSource',
      'runtime/document/document-kinds.ts#parseByKind',
      'runtime/document/parse-document.ts#parseDocument'
    ],
    parseComposite
  ),
  plan: linted(['block/document/parse.ts#parsePlan'], parsePlan),
  graph: linted(['intent/graph/parse.ts#parseGraph'], parseGraph),
  'agents-flow': linted(['agent/flow/parse.ts#parsingFlow'], (value) =>
    atOnce(parsingAgentsFlow(value))
  ),
  workflow: linted(['workflow/document/parse.ts#parseFlow'], (value) => parseWorkflow(value)),
  protocol: {
    readers: ['workflow/document/parse.ts#parseProtocol'],
    read: (input) => parseProtocol(textOf(input))
  },
  'policy-pack': {
    readers: ['workflow/document/parse.ts#parsePack'],
    read: (input) => parsePack(textOf(input))
  },
  manifest: document(['capability/manifest/manifest.ts#parseManifest'], (value) =>
    parseManifest(value)
  ),
  package: {
    readers: ['capability/packages/package.ts#parsePackage'],
    read: (input) => openPackage(textOf(input))
  },
  'prompt-assets': document(['agent/assets/parse-manifest.ts#parseManifest'], parseAssets),
  intent: document(['intent/intent.ts#parseIntent'], parseIntent),
  'spoken-intent': { readers: [], read: (input) => kernelResolution(textOf(input)) ?? null },
  patches: document(['workflow/readiness/patch.ts#parsePatches'], parsePatches),
  type: {
    readers: ['workflow/type/type.ts#parseType'],
    read: (input) => parseType(textOf(input)) ?? null
  },
  reference: {
    readers: ['expression/reference.ts#parseReference'],
    read: (input) => parseReference(textOf(input))
  },
  expression: {
    readers: [
      'expression/amount.ts#parseAmount',
      'expression/text.ts#parseInt64',
      'expression/text.ts#parseUint64',
      'expression/text.ts#parseDouble',
      'expression/timestamp.ts#parseTimestamp'
    ],
    read: (input) => {
      const [first = '', ...rest] = textOf(input).split('\n')
      return expressions.evaluate(first, { text: rest.join('\n'), list: [1, 'a', null], n: 3 })
    }
  },
  'approval-request': {
    readers: ['cli/frame/approval-files.ts#parseRequest'],
    read: (input) => parseRequest(textOf(input))
  },
  'approval-signature': {
    readers: ['cli/frame/approval-files.ts#parseSignature'],
    read: (input) => parseSignature(textOf(input))
  },
  inputs: {
    readers: ['cli/frame/files.ts#readJson', 'cli/frame/files.ts#readContext'],
    // Behind an @ it would be the name of a file.
    read: (input) => readJson(frame, textOf(input).replace(/^@/, ''), '--inputs')
  }
}
