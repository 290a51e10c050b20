import { createSandbox, type Sandbox } from '../../capability/index.js'
import type { IdentityId } from '../../core/index.js'
import {
  createIntentPipeline,
  createScopedApi,
  type NetworkOptions,
  type PackageCache,
  type StageListener,
  type Versions
} from '../../intent/index.js'
import { openPackageCache } from '../code/packages.js'
import type { Registry } from '../code/registry.js'

/**
 * Registers the leaves of the kernel beside the trusted blocks. Its caller closes the sandbox,
 * whose threads start when the first package runs.
 */
export function pipelineFor(
  registry: Registry,
  options: {
    readonly identity: IdentityId
    /** Where the ledger lies; undefined in memory. */
    readonly realPath: string | undefined
    readonly network?: NetworkOptions | undefined
    readonly onStage?: StageListener | undefined
    readonly versions?: Versions
    /** One of its own where undefined. */
    readonly sandbox?: Sandbox | undefined
  }
): { readonly packageCache: PackageCache; readonly sandbox: Sandbox } {
  const { identity, realPath, network, onStage, versions } = options
  const { sandbox = createSandbox() } = options
  const packageCache = openPackageCache(realPath)
  const { redactor } = registry
  const api = createScopedApi({ redactor, ...(network === undefined ? {} : { network }) })
  const blocks = registry.blocks()
  const kernel = createIntentPipeline({
    identity,
    blocks,
    packageCache,
    sandbox,
    api,
    ...(versions === undefined ? {} : { versions }),
    ...(onStage === undefined ? {} : { onStage })
  })
  registry.addKernel(kernel)
  return { packageCache, sandbox }
}
