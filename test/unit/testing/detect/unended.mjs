/** Blocks whose end is not seen. */
import { defineBlock } from '../../../../dist/src/code/index.js'

const block = (name, run) => defineBlock({ name, version: '1.0.0', sideEffects: 'none', run })

export const unended = [
  block('endless', () => {
    for (;;);
  }),
  block('waiting', () => new Promise(() => undefined)),
  block('asking', (ctx) => ctx.effect('rate', { perform: () => 1 })),
  block('refused', () => fetch('http://127.0.0.1:9/')),
  block('killed', () => process._kill(process.pid, 9)),
  block('ended', () => 1)
]
