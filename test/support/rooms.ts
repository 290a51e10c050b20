/**
 * The shape of the code as data (architecture.md §3): which room stands left of which, where each
 * third-party library may be imported, and which files are the seams to time and chance.
 * The tidy test enforces it; a change here is a change of architecture.
 */

/** Rooms from left to right; a room imports only from groups to the left of its own. */
export const roomOrder: readonly (readonly string[])[] = [
  ['core'],
  ['owner'],
  ['identity'],
  ['expression', 'queue'],
  ['code'],
  ['ledger', 'block'],
  ['capability'],
  ['intent', 'executor'],
  ['workflow', 'agent'],
  ['audit'],
  ['inspect', 'telemetry'],
  ['runtime'],
  ['console', 'client'],
  ['testing', 'cli']
]

/** Folders of a room from left to right; the room's own files, which wire them, know them all. */
export const folderOrder: Readonly<Record<string, readonly string[]>> = {
  block: ['chart', 'run', 'document', 'recovery', 'pump', 'replay'],
  runtime: [
    'document',
    'code',
    'gate',
    'run',
    'audit',
    'opening',
    'system',
    'intent',
    'schedule',
    'queries',
    'service',
    'location',
    'identities'
  ]
}

/** Files of src that list names for others and belong to no room. */
export const facades: readonly string[] = ['src/index.ts', 'src/internal.ts']

/** The console's page: it is bundled, so that its libraries are dependencies of development. */
export const pageFolder = 'src/console/page/'
/** Where the page meets the browser's clock and chance. */
const pageBrowser = `${pageFolder}client/browser.ts`

/** Where a library may be imported: folders or files, from the root. */
export const libraryPlaces: Readonly<Record<string, readonly string[]>> = {
  xstate: [
    'machines/',
    'src/block/',
    'src/ledger/',
    'src/intent/',
    'src/workflow/',
    'src/inspect/',
    'src/testing/machine/'
  ],
  '@xstate/graph': ['src/testing/'],
  'fast-check': ['src/testing/'],
  level: ['src/ledger/stores/'],
  '@noble/ed25519': ['src/identity/', `${pageFolder}pure/`],
  '@bufbuild/cel': ['src/expression/'],
  '@bufbuild/cel-spec': ['src/expression/'],
  '@bufbuild/protobuf': ['src/expression/'],
  'js-yaml': ['src/core/document/'],
  jiti: ['src/cli/', 'src/testing/recorded/'],
  'quickjs-emscripten-core': ['src/capability/sandbox/'],
  '@jitl/quickjs-wasmfile-release-sync': ['src/capability/sandbox/'],
  esbuild: ['src/capability/packages/'],
  preact: [pageFolder],
  '@preact/signals': [pageFolder],
  commander: ['src/cli/'],
  croner: ['src/runtime/schedule/'],
  eventemitter3: ['src/runtime.ts', 'src/runtime/'],
  viem: ['src/executor/evm/', 'src/testing/evm-node/'],
  ai: ['src/agent/transports/'],
  '@ai-sdk/deepseek': ['src/agent/transports/'],
  '@ai-sdk/openai-compatible': ['src/agent/transports/'],
  '@modelcontextprotocol/sdk': ['src/agent/mcp/'],
  '@solana/kit': ['src/executor/solana/', 'src/testing/solana-node/'],
  litesvm: ['src/testing/solana-node/'],
  ws: ['src/inspect/'],
  '@opentelemetry/api': ['src/telemetry/'],
  'zod-pinned': [
    'src/core/document/',
    'src/block/',
    'src/code/',
    'src/capability/',
    'src/intent/',
    'src/workflow/',
    'src/executor/',
    'src/agent/'
  ]
}

const httpPlaces = [
  'src/inspect/',
  'src/console/',
  'src/audit/federation/',
  'src/agent/',
  'src/intent/scoped-api/network/',
  'src/testing/'
]

/** Node built-ins that only some rooms may use; the others are free. */
export const builtinPlaces: Readonly<Record<string, readonly string[]>> = {
  'node:http': httpPlaces,
  'node:https': httpPlaces,
  'node:http2': httpPlaces,
  // The owner's socket (L11), and address checks of executors and of what packages ask.
  'node:net': [
    'src/owner/',
    'src/ledger/',
    'src/runtime/',
    'src/inspect/',
    'src/console/',
    'src/executor/',
    'src/intent/scoped-api/network/',
    'src/testing/'
  ],
  'node:worker_threads': ['src/identity/', 'src/capability/sandbox/', 'src/testing/'],
  'node:child_process': ['src/agent/', 'src/testing/', 'src/cli/'],
  'node:crypto': ['src/core/', 'src/identity/', 'src/ledger/', 'src/code/tripwire.ts'],
  'node:vm': [],
  'node:timers': [],
  'node:timers/promises': []
}

/** What nothing may call but the named files: time, chance, and XState's ways around the pump. */
export const seams: readonly {
  readonly call: RegExp
  /** Files, or folders that end with a slash. */
  readonly files: readonly string[]
}[] = [
  { call: /\bDate\.now\b/, files: ['src/core/clock.ts', pageBrowser] },
  {
    call: /\bnew Date\b|(?<![\w.])Date\(/,
    files: ['src/core/clock.ts', `${pageFolder}pure/time-text.ts`]
  },
  { call: /\bset(Timeout|Interval|Immediate)\b/, files: ['src/core/clock.ts', pageBrowser] },
  { call: /\bqueueMicrotask\b|\bprocess\.nextTick\b/, files: ['src/core/clock.ts'] },
  { call: /\bperformance\.now\b|\bprocess\.hrtime\b/, files: ['src/core/clock.ts'] },
  { call: /\bMath\.random\b|\bgetRandomValues\b/, files: ['src/core/random.ts', pageBrowser] },
  { call: /\brandom(Bytes|UUID|Int|Fill|FillSync)\b/, files: ['src/core/random.ts'] },
  { call: /\bfrom(Promise|Callback)\b/, files: [] },
  // The host's language, time zone and environment reach no hash, guard or route (D4).
  { call: /\blocaleCompare\b|\btoLocale\w+|\bIntl\./, files: ['src/cli/', 'src/inspect/'] },
  {
    call: /\bprocess\.(env|argv|cwd)\b/,
    files: ['src/cli/', 'src/agent/', 'src/runtime', 'src/owner/socket-path.ts']
  },
  { call: /\bcreatePrivateKey\b|\bgenerateKeyPair/, files: ['src/identity/keys.ts'] }
]

/** Room of a file of src, or undefined for facades and files elsewhere. */
export function roomOf(path: string): string | undefined {
  if (facades.includes(path)) return undefined
  return /^src\/([^/]+?)(?:\.ts|\/)/.exec(path)?.[1]
}

/** Place of a room from the left, or -1 for a room that the architecture does not know. */
export function rankOf(room: string): number {
  return roomOrder.findIndex((group) => group.includes(room))
}

/**
 * Allowances while rooms are being built: files that no entry point reaches yet, codes and limits
 * that nothing uses yet. In a release each is /^$/, which matches nothing.
 */
export const filesToCome = /^$/
export const codesToCome = /^$/
export const limitsToCome = /^$/
/** Paths of package.json that are not built yet. */
export const entriesToCome: readonly string[] = []
