import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

describe('generated pages', () => {
  it('docs/errors.md and docs/limits.md are current', () => {
    const script = fileURLToPath(new URL('../scripts/docs.mjs', import.meta.url))
    const { stderr, status } = spawnSync(process.execPath, [script, '--check'], {
      encoding: 'utf8'
    })
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  })
})
