import { packageStoragePrefix } from '../../capability/index.js'
import { lazySchema, limits } from '../../core/index.js'
import { stateful } from './host-capability.js'

/**
 * `storage.list { prefix? }` gives `{ keys }`: the package's own keys, sorted. What the execution
 * itself has written is not among them yet: its writes are kept when it is done.
 */
export const storageList = stateful({
  name: 'storage.list',
  schema: lazySchema((z) =>
    z.strictObject({ prefix: z.string().max(limits.STATE_KEY_LENGTH_MAX).default('') })
  ),
  async perform({ state, packageId }, { prefix }) {
    const own = packageStoragePrefix(packageId)
    const keys = await state.list(own + prefix)
    return { keys: keys.map((key) => key.slice(own.length)) }
  }
})
