import { isTallyError } from '../../core/index.js'
import type { ShareEnd, ShareJob } from './shares.js'
import { verifyShare } from './verify-machine.js'

/**
 * The program of a process that plays a share of the cases of a search.
 *
 * Owns: the process. It ends with the one that has started it.
 */
async function played({ module, target, options, ...own }: ShareJob): Promise<ShareEnd> {
  try {
    const exported = await import(module)
    const given = options === undefined ? {} : exported[options]
    return { left: await verifyShare(exported[target], { ...given, ...own }) }
  } catch (error) {
    if (isTallyError(error)) return { code: error.code, context: error.context }
    return { problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

process.once('disconnect', () => process.exit())
process.once('message', async (job) => {
  const end = await played(job as ShareJob)
  process.send?.(end, () => process.disconnect())
})
