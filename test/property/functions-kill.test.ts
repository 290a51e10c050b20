import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { builtModule } from '../support/built.js'
import { isLong, isSoak } from '../support/effort.js'

const worker = fileURLToPath(new URL('functions-kill/worker.mjs', import.meta.url))
const library = builtModule('index.js')
const COUNT = 2
/** More moments than a run has. */
const MOMENTS_MAX = 40

interface Life {
  readonly end:
    | { readonly receipts: unknown; readonly ok: boolean; readonly complete: boolean }
    | undefined
}

/** One process: it runs the workflow to its end, or is killed at a moment. */
function life(folder: string, killedAt: number): Promise<Life> {
  const given = { library, location: join(folder, 'ledger'), log: join(folder, 'log'), killedAt }
  const text = JSON.stringify({ ...given, count: COUNT })
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [worker, text], (error, out, problems) => {
      if (error?.signal === 'SIGKILL') resolve({ end: undefined })
      else if (error === null) resolve({ end: JSON.parse(out) })
      else reject(new Error(`${error.message} ${problems}`))
    })
  })
}

/** Lives that are killed at these moments, and one that is not. */
async function lived(kills: readonly number[]) {
  const folder = await mkdtemp(join(tmpdir(), 'tally-functions-'))
  try {
    let killed = 0
    for (const killedAt of kills) if ((await life(folder, killedAt)).end === undefined) killed += 1
    const { end } = await life(folder, 0)
    const keys = (await readFile(join(folder, 'log'), 'utf8')).trim().split('\n')
    return { end, keys: [...new Set(keys)].sort(), killed }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Each in a process that is killed in truth; every second one but for soaks. */
const every = isSoak ? 1 : 2
const moments = isLong
  ? Array.from({ length: MOMENTS_MAX / every }, (_, at) => at * every + 1)
  : [8]

it('B12, D6, L7: killed at any moment, a workflow in code comes to the same receipts', {
  timeout: MOMENTS_MAX * 10_000
}, async () => {
  const whole = await lived([])
  expect(whole.end).toMatchObject({ ok: true, complete: true })
  for (const moment of moments) {
    const { end, keys, killed } = await lived(isLong ? [moment, moment] : [moment])
    expect({ moment, end, keys }).toEqual({ moment, end: whole.end, keys: whole.keys })
    if (killed === 0) break
  }
})
