import { createSandbox, type Sandbox } from '../capability/index.js'
import type { IdentityId } from '../core/index.js'
import {
  createKernel,
  createScopedApi,
  type NetworkOptions,
  type PackageShelf,
  type StageListener,
  type Versions
} from '../intent/index.js'
import { packageShelf } from './packages.js'
import type { Registry } from './registry.js'

/**
 * Registers the leaves of the kernel beside the trusted blocks. Whoever does it closes the sandbox,
 * whose threads start when the first package runs.
 */
export function kernelFor(
  registry: Registry,
  options: {
    readonly identity: IdentityId
    /** Where the ledger lies; undefined in memory. */
    readonly realPath: string | undefined
    readonly network?: NetworkOptions
    readonly onStage?: StageListener
    readonly versions?: Versions
  }
): { readonly shelf: PackageShelf; readonly sandbox: Sandbox } {
  const { identity, realPath, network, onStage, versions } = options
  const shelf = packageShelf(realPath)
  const sandbox = createSandbox()
  const api = createScopedApi(network === undefined ? {} : { network })
  const blocks = registry.blocks()
  const kernel = createKernel({
    identity,
    blocks,
    shelf,
    sandbox,
    api,
    ...(versions === undefined ? {} : { versions }),
    ...(onStage === undefined ? {} : { onStage })
  })
  registry.addKernel(kernel)
  return { shelf, sandbox }
}
