/**
 * detect: what a block's code does past `ctx`, found in processes of its own whose built-ins are
 * replaced before the code is loaded.
 */
export { detectImpurities, detectImpurity } from './detect-impurity.js'
export type {
  DetectedBlock,
  Impurity,
  ImpurityKind,
  ImpurityOptions,
  ImpurityReport,
  Place
} from './report.js'
