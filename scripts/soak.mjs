/**
 * `npm run soak` runs all tests with fresh seeds and larger counts; `npm run soak -- test/property`
 * those below a folder. `npm run soak -- seeds COUNT [FIRST] [PROCESSES]` simulates COUNT seeds
 * from FIRST on (default 1) in so many processes (default 2): a seed that fails is kept in
 * `test/simulate/seeds.json`, which the tests repeat.
 */
import { fork, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildIfStale, root } from './built.mjs'

/** Seeds of one process: another one begins with an empty memory. */
const SEEDS_A_PROCESS = 10_000
const HEAP_MB = 512
const kept = join(root, 'test', 'simulate', 'seeds.json')

const [what, ...given] = process.argv.slice(2)
if (what === 'one-process') await simulateSome(...given.map(Number))
else if (what === 'seeds') process.exitCode = await simulateAll(...given.map(Number))
else {
  buildIfStale()
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const arguments_ = [vitest, 'run', ...process.argv.slice(2)]
  const env = { ...process.env, SOAK: '1' }
  const { status } = spawnSync(process.execPath, arguments_, { cwd: root, stdio: 'inherit', env })
  process.exitCode = status ?? 1
}

/** In this process; tells its parent of each seed that fails, and of its memory in the end. */
async function simulateSome(first, count) {
  const { simulate } = await import(join(root, 'dist/src/testing/index.js'))
  const { shopStory } = await import(join(root, 'dist/bench/simulated-shop.js'))
  const story = shopStory()
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      await simulate({ ...story, seed })
    } catch (error) {
      process.send({ seed, message: error.message })
    }
  }
  process.send({ done: count, peakMb: Math.round(process.resourceUsage().maxRSS / 1024) })
  process.disconnect()
}

async function simulateAll(count, first = 1, processes = 2) {
  if (![count, first, processes].every((one) => Number.isSafeInteger(one) && one > 0)) {
    console.log('npm run soak -- seeds COUNT [FIRST] [PROCESSES]')
    return 2
  }
  buildIfStale()
  const soak = { next: first, end: first + count, done: 0, failed: 0, begun: Date.now() }
  await Promise.all(Array.from({ length: processes }, () => simulateNext(soak)))
  console.log(`${soak.done} seeds, ${soak.failed} failed`)
  return soak.failed === 0 && soak.done === count ? 0 : 1
}

async function simulateNext(soak) {
  while (soak.next < soak.end) {
    const first = soak.next
    const count = Math.min(SEEDS_A_PROCESS, soak.end - first)
    soak.next += count
    const { collectorOptions } = await import(join(root, 'dist/src/testing/collector.js'))
    const how = { execArgv: [`--max-old-space-size=${HEAP_MB}`, ...collectorOptions] }
    const arguments_ = ['one-process', first, count].map(String)
    const child = fork(fileURLToPath(import.meta.url), arguments_, how)
    child.on('message', (told) => hear(soak, told))
    const code = await new Promise((resolve) => child.once('exit', resolve))
    if (code !== 0) console.error(`the process of the seeds from ${first} ended with ${code}`)
  }
}

function hear(soak, { seed, message, done = 0, peakMb }) {
  if (seed !== undefined) {
    soak.failed += 1
    keep(seed)
    console.error(`seed ${seed} is kept in ${kept}\n${message}`)
    return
  }
  soak.done += done
  const seconds = (Date.now() - soak.begun) / 1000
  console.log(`${soak.done} seeds, ${Math.round(soak.done / seconds)} a second, ${peakMb} MB`)
}

function keep(seed) {
  const seeds = JSON.parse(readFileSync(kept, 'utf8'))
  const runtime = [...new Set([...seeds.runtime, seed])].sort((one, other) => one - other)
  const lines = Object.entries({ ...seeds, runtime }).map(([name, list]) => {
    return `  ${JSON.stringify(name)}: [${list.join(', ')}]`
  })
  writeFileSync(kept, `{\n${lines.join(',\n')}\n}\n`)
}
