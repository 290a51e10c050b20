/** How a function of the profile may be called: numbers of arguments, as `f(a)` and as `a.f()`. */
export interface CallShape {
  readonly free: readonly number[]
  readonly method: readonly number[]
}

const conversion: CallShape = { free: [1], method: [] }
const textTest: CallShape = { free: [], method: [1] }
const calendar: CallShape = { free: [], method: [0, 1] }

/** Every function of the profile `tally-cel/1`; anything else is refused at compile time. */
export const profileFunctions: ReadonlyMap<string, CallShape> = new Map<string, CallShape>([
  ['size', { free: [1], method: [0] }],
  ['contains', textTest],
  ['startsWith', textTest],
  ['endsWith', textTest],
  ['matches', textTest],
  ['int', conversion],
  ['uint', conversion],
  ['double', conversion],
  ['string', conversion],
  ['bool', conversion],
  ['bytes', conversion],
  ['type', conversion],
  ['dyn', conversion],
  ['timestamp', conversion],
  ['duration', conversion],
  ['getFullYear', calendar],
  ['getMonth', calendar],
  ['getDate', calendar],
  ['getDayOfMonth', calendar],
  ['getDayOfWeek', calendar],
  ['getDayOfYear', calendar],
  ['getHours', calendar],
  ['getMinutes', calendar],
  ['getSeconds', calendar],
  ['getMilliseconds', calendar],
  ['amount', conversion],
  ['to_atomic', { free: [2], method: [] }],
  ['to_human', { free: [2], method: [] }],
  ['mul_div', { free: [3, 4], method: [] }]
])

/** Operators as CEL's syntax tree spells them. */
export const profileOperators: ReadonlySet<string> = new Set([
  '_&&_',
  '_||_',
  '!_',
  '-_',
  '_+_',
  '_-_',
  '_*_',
  '_/_',
  '_%_',
  '_==_',
  '_!=_',
  '_<_',
  '_<=_',
  '_>_',
  '_>=_',
  '_?_:_',
  '_[_]',
  '@in',
  '@not_strictly_false'
])

/** Names that stand for types, e.g. in `type(x) == int`. */
export const profileTypes: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'double',
  'int',
  'list',
  'map',
  'null_type',
  'string',
  'type',
  'uint',
  'google.protobuf.Timestamp',
  'google.protobuf.Duration'
])
