import { defineBlock } from '../../src/code/index.js'

/** Notes a key in the state, and gives it back. */
export const note = defineBlock({
  name: 'note',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx, key: string) => {
    ctx.state.set(key, 'noted')
    return key
  }
})
