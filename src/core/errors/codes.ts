import { agentCodes } from './codes/agent.js'
import { auditCodes } from './codes/audit.js'
import { blockCodes } from './codes/block.js'
import { capabilityCodes } from './codes/capability.js'
import { cliCodes } from './codes/cli.js'
import { coreCodes } from './codes/core.js'
import { executorCodes } from './codes/executor.js'
import { expressionCodes } from './codes/expression.js'
import { identityCodes } from './codes/identity.js'
import { inspectCodes } from './codes/inspect.js'
import { intentCodes } from './codes/intent.js'
import { ledgerCodes } from './codes/ledger.js'
import { runtimeCodes } from './codes/runtime.js'
import { testingCodes } from './codes/testing.js'
import { workflowCodes } from './codes/workflow.js'
import type { CodeTexts } from './texts.js'

/**
 * Every error code with its message and its fix, one file of `codes/` per room. Codes are stable:
 * never renamed, never reused.
 * `{name}` is a placeholder; the context type of a code is read off its placeholders.
 * `docs/errors.md` is generated from this table (`npm run docs`). What throws takes the tables one
 * by one (`rooms.ts`), so that a bundle can leave this one out.
 *
 * Naming: `room.problem`. `invalid_` = well-formed but not allowed, `malformed_` = cannot be read,
 * `_mismatch` = two things that must agree do not, `_exceeded` = over a limit of `core/limits.ts`.
 */
export const errorCatalogue = /* @__PURE__ */ (() => ({
  ...coreCodes,
  ...identityCodes,
  ...expressionCodes,
  ...ledgerCodes,
  ...blockCodes,
  ...capabilityCodes,
  ...intentCodes,
  ...executorCodes,
  ...workflowCodes,
  ...agentCodes,
  ...auditCodes,
  ...inspectCodes,
  ...runtimeCodes,
  ...testingCodes,
  ...cliCodes
}))() satisfies CodeTexts

/** The stable code of an error: docs/errors.md lists all of them. Never renamed, never reused. */
export type ErrorCode = keyof typeof errorCatalogue
