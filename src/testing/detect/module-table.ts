import type { ImpurityKind } from './report.js'

/** Functions of Node's modules that code of a block does not call. */
export interface WatchedModule {
  readonly module: string
  readonly kind: ImpurityKind
  readonly instead: string
  /** All functions, where none is named. */
  readonly names?: readonly string[]
  readonly except?: RegExp
  /** Which of them act outside; none where it is absent. */
  readonly refused?: RegExp
}

const viaEffect = 'ctx.effect(name, { request, perform })'
const random = 'ctx.random() or ctx.uuid(); for secrets, ctx.effect'
const sleep = 'ctx.sleep(ms)'
const all = /^/

const network = { kind: 'network', instead: viaEffect, refused: all } as const
const files = {
  kind: 'files',
  instead: viaEffect,
  // Opening is left to the permissions of the process, which forbid it to write.
  refused: /^(?!read|[fl]?stat|exists|access|open|realpath|createRead|close|glob)/,
  except: /^(Stats|Dirent|Dir|_toUnixTimestamp)$/
} as const

export const watchedModules: readonly WatchedModule[] = [
  { module: 'fs', ...files },
  { module: 'fs/promises', ...files },
  { module: 'net', ...network, except: /^(isIP|BlockList|SocketAddress|_|[gs]etDefault)/ },
  { module: 'http', ...network, names: ['request', 'get', 'createServer', 'Server'] },
  { module: 'https', ...network, names: ['request', 'get', 'createServer', 'Server'] },
  { module: 'http2', ...network, names: ['connect', 'createServer', 'createSecureServer'] },
  { module: 'tls', ...network, names: ['connect', 'createServer', 'TLSSocket', 'Server'] },
  { module: 'dgram', ...network, names: ['createSocket', 'Socket'] },
  { module: 'dns', ...network },
  { module: 'dns/promises', ...network },
  {
    module: 'os',
    kind: 'environment',
    instead: 'the input of the block, or ctx.context'
  },
  { module: 'child_process', kind: 'process', instead: viaEffect, refused: all },
  { module: 'cluster', kind: 'process', instead: viaEffect, names: ['fork'], refused: all },
  { module: 'vm', kind: 'process', instead: 'code of the block itself' },
  {
    module: 'worker_threads',
    kind: 'threads',
    instead: viaEffect,
    names: ['Worker', 'BroadcastChannel', 'MessageChannel', 'receiveMessageOnPort'],
    refused: /^Worker$/
  },
  {
    module: 'timers',
    kind: 'timers',
    instead: sleep,
    names: ['setTimeout', 'setInterval', 'setImmediate']
  },
  {
    module: 'timers/promises',
    kind: 'timers',
    instead: sleep,
    names: ['setTimeout', 'setInterval', 'setImmediate']
  },
  {
    module: 'crypto',
    kind: 'chance',
    instead: random,
    names: [
      'randomBytes',
      'pseudoRandomBytes',
      'prng',
      'rng',
      'randomInt',
      'randomUUID',
      'randomFill',
      'randomFillSync',
      'getRandomValues',
      'generateKey',
      'generateKeySync',
      'generateKeyPair',
      'generateKeyPairSync',
      'generatePrime',
      'generatePrimeSync'
    ]
  },
  {
    module: 'crypto',
    kind: 'threads',
    instead: 'the form that ends in Sync',
    names: ['pbkdf2', 'scrypt', 'hkdf']
  },
  {
    module: 'zlib',
    kind: 'threads',
    instead: 'the form that ends in Sync',
    names: [
      'gzip',
      'gunzip',
      'deflate',
      'inflate',
      'deflateRaw',
      'inflateRaw',
      'unzip',
      'brotliCompress',
      'brotliDecompress'
    ]
  }
]

/** Members of `process`: functions and values. */
export const watchedProcess: readonly {
  readonly kind: ImpurityKind
  readonly instead: string
  readonly names: readonly string[]
  readonly isRefused?: true
}[] = [
  { kind: 'clock', instead: 'ctx.now()', names: ['hrtime', 'uptime'] },
  {
    kind: 'environment',
    instead: 'the input of the block, or ctx.context',
    names: [
      'cwd',
      'memoryUsage',
      'cpuUsage',
      'resourceUsage',
      'availableMemory',
      'constrainedMemory',
      'getuid',
      'geteuid',
      'getgid',
      'getegid',
      'getgroups',
      'umask',
      'argv',
      'argv0',
      'execArgv',
      'execPath',
      'pid',
      'ppid',
      'platform',
      'arch',
      'version',
      'versions',
      'release',
      'config',
      'title',
      'stdin'
    ]
  },
  {
    kind: 'process',
    instead: 'ctx.fail(reason), or ctx.effect',
    names: ['exit', 'reallyExit', 'abort', 'kill', 'chdir', 'send', 'dlopen', 'binding'],
    isRefused: true
  }
]
