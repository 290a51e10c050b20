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
import { errorCatalogue } from './codes.js'
import { errorsOf } from './error.js'

/**
 * What throws errors: a function for the codes of each room, `throw ledgerError('ledger.locked',
 * { ... })`. A bundle has the texts of those rooms alone whose functions its code calls.
 */
export const coreError = /* @__PURE__ */ errorsOf(coreCodes)
export const identityError = /* @__PURE__ */ errorsOf(identityCodes)
export const expressionError = /* @__PURE__ */ errorsOf(expressionCodes)
export const ledgerError = /* @__PURE__ */ errorsOf(ledgerCodes)
export const blockError = /* @__PURE__ */ errorsOf(blockCodes)
export const capabilityError = /* @__PURE__ */ errorsOf(capabilityCodes)
export const intentError = /* @__PURE__ */ errorsOf(intentCodes)
export const executorError = /* @__PURE__ */ errorsOf(executorCodes)
export const workflowError = /* @__PURE__ */ errorsOf(workflowCodes)
export const agentError = /* @__PURE__ */ errorsOf(agentCodes)
export const auditError = /* @__PURE__ */ errorsOf(auditCodes)
export const inspectError = /* @__PURE__ */ errorsOf(inspectCodes)
export const runtimeError = /* @__PURE__ */ errorsOf(runtimeCodes)
export const testingError = /* @__PURE__ */ errorsOf(testingCodes)
export const cliError = /* @__PURE__ */ errorsOf(cliCodes)

/** For a code that another process names. */
export const anyError = /* @__PURE__ */ errorsOf(errorCatalogue)
