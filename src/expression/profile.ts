import type { ExpressionProfile } from './engine.js'

/** How a function of the profile may be called: numbers of arguments, as `f(a)` and as `a.f()`. */
export interface CallShape {
  readonly free: readonly number[]
  readonly method: readonly number[]
}

const conversion: CallShape = { free: [1], method: [] }
const textTest: CallShape = { free: [], method: [1] }
const calendar: CallShape = { free: [], method: [0, 1] }

/** Every function of the profile `tally-cel/1`; anything else is refused at compile time. */
const profileFunctions: ReadonlyMap<string, CallShape> = new Map<string, CallShape>([
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

const ofText: CallShape = { free: [1], method: [0] }
const ofTexts: CallShape = { free: [2], method: [1] }
const ofNumbers: CallShape = { free: [1, 2, 3, 4, 5, 6, 7, 8], method: [] }

/** Every function of the profile `ais-cel/1`. */
const aisFunctions: ReadonlyMap<string, CallShape> = new Map<string, CallShape>([
  ['size', ofText],
  ['contains', ofTexts],
  ['startsWith', ofTexts],
  ['endsWith', ofTexts],
  ['matches', ofTexts],
  ['lower', ofText],
  ['upper', ofText],
  ['trim', ofText],
  ['int', conversion],
  ['uint', conversion],
  ['double', conversion],
  ['string', conversion],
  ['bool', conversion],
  ['type', conversion],
  ['abs', conversion],
  ['min', ofNumbers],
  ['max', ofNumbers],
  ['floor', conversion],
  ['ceil', conversion],
  ['round', conversion],
  ['pow', { free: [2], method: [] }],
  ['to_atomic', { free: [2], method: [] }],
  ['to_human', { free: [2], method: [] }],
  ['mul_div', { free: [3, 4], method: [] }]
])

/** Operators as CEL's syntax tree spells them. */
const profileOperators: ReadonlySet<string> = new Set([
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
const profileTypes: ReadonlySet<string> = new Set([
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

/** What `type()` gives under `ais-cel/1`: text. */
const aisTypes: ReadonlySet<string> = new Set([
  'bool',
  'double',
  'int',
  'list',
  'map',
  'null_type',
  'string'
])

/** Operators that are logic: every profile has CEL's own. */
export const logicalOperators: ReadonlySet<string> = new Set([
  '_&&_',
  '_||_',
  '!_',
  '_?_:_',
  '@not_strictly_false'
])

/** Names under which an engine keeps the functions of `ais-cel/1`; a blank cannot be typed. */
export const AIS_PREFIX = 'ais '

/** What an expression may be made of. */
export interface ProfileRules {
  readonly functions: ReadonlyMap<string, CallShape>
  readonly operators: ReadonlySet<string>
  readonly types: ReadonlySet<string>
  /** Numbers are exact decimals of one kind, and functions those of AIS. */
  readonly isExact: boolean
}

export const profileRules: Readonly<Record<ExpressionProfile, ProfileRules>> = {
  'tally-cel/1': {
    functions: profileFunctions,
    operators: profileOperators,
    types: profileTypes,
    isExact: false
  },
  'ais-cel/1': {
    functions: aisFunctions,
    operators: profileOperators,
    types: aisTypes,
    isExact: true
  }
}
