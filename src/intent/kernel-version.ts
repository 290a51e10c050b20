import { hashJson } from '../core/index.js'

/** Version of the kernel's rules; raise it with any change that a receipt could show. */
export const KERNEL_VERSION = '1'

/** `dappId` of what the kernel does itself. */
export const KERNEL_ID = 'kernel'

/** Hash by which receipts name the kernel: declared, as that of trusted blocks. */
export const KERNEL_HASH = hashJson({ kernel: `tally-kernel/${KERNEL_VERSION}` })
