/**
 * `npm run pictures [NAME...]`: makes the pictures of the pages anew, from real runs: the invoices
 * of the first example are paid, killed in the middle and resumed, and one amount is altered in a
 * copy of the ledger. What `tally inspect` shows of them is drawn by a Chromium, light and dark.
 */
import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildIfStale, root } from './built.mjs'
import { folder, pictures, themes, withTheme } from './pictures-list.mjs'

const cli = join(root, 'dist/src/cli/main.js')
const config = join(root, 'dist/examples/01-invoices/tally.config.js')
const KILL_AFTER_TRANSFERS = 10
const POLL_MS = 20

/** Where the invoices are paid. */
const project = mkdtempSync(join(tmpdir(), 'shop-'))
const book = join(project, 'bank.jsonl')

async function main(names) {
  buildIfStale()
  const wanted = pictures.filter(({ name }) => names.length === 0 || names.includes(name))
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({ executablePath: chromiumHere(), args: browserArgs })
  const shown = (ledger, dir) => {
    const ofLedger = wanted.filter((picture) => picture.ledger === ledger)
    return ofLedger.length === 0 ? undefined : draw(browser, dir, ofLedger)
  }
  const ledger = join(project, '.tally')
  const tampered = join(project, 'copy')
  try {
    const holder = await payUntilAsked()
    await shown('waiting', ledger)
    await tally(['approve', 'june', '--by', 'ada'], 0)
    await ended(holder)
    cpSync(ledger, tampered, { recursive: true })
    await alter(tampered)
    await shown('tampered', tampered)
  } finally {
    await browser.close()
    rmSync(project, { recursive: true, force: true })
  }
}

/** One run that has ended, and one that was killed in the middle, resumed, and waits; held. */
async function payUntilAsked() {
  for (const name of ['invoices.csv', 'pay-invoices.yaml']) {
    cpSync(join(root, 'examples/01-invoices', name), join(project, name))
  }
  await tally(['init', '--insecure-plaintext-key'], 0)
  await tally(pay('may', '99999.00'), 0)
  rmSync(book)
  const killed = start(pay('june', '10000.00'), { BANK_DELAY_MS: '60' })
  while (transfers() < KILL_AFTER_TRANSFERS) await pause(POLL_MS)
  killed.kill('SIGKILL')
  await ended(killed)
  const holder = start(['resume', 'june', '--wait', '--json', '--config', config])
  await said(holder, 'run.parked')
  return holder
}

function pay(id, confirmAbove) {
  const inputs = JSON.stringify({ path: 'invoices.csv', confirm_above: confirmAbove })
  return ['run', 'pay-invoices.yaml', '--id', id, '--inputs', inputs, '--config', config]
}

/** As a program with access to the disk could: one amount, and the checksums of the store. */
async function alter(directory) {
  const built = (path) => import(pathToFileURL(join(root, 'dist/src', path)).href)
  const { holdStore } = await built('ledger/index.js')
  const { alterRecords } = await built('cli/demo/alter.js')
  const held = await holdStore(directory)
  const [identity] = held.location.marker.identities
  const lessPaid = (line) =>
    line.includes('"payment/INV-2617"') ? line.replaceAll('"18250.00"', '"1825.00"') : line
  const count = await alterRecords(held.store, identity, (text) =>
    text.split('\n').map(lessPaid).join('\n')
  )
  await held.close()
  if (count === 0) throw new Error('there was nothing to alter')
}

async function draw(browser, dir, shown) {
  const served = start(['inspect', '--dir', dir, '--json'])
  const { url } = await said(served, '"url"')
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await page.goto(url)
  await page.waitForSelector('text=june')
  const { origin } = new URL(url)
  mkdirSync(join(root, folder), { recursive: true })
  for (const { name, path, until, act, height = 800 } of shown) {
    await page.setViewportSize({ width: 1280, height })
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.goto(origin + path)
      await act?.(page)
      await page.waitForSelector(until)
      // What is said in passing has gone.
      await page.waitForSelector('.toast', { state: 'detached' })
      // Fonts are there, and what moved has stopped.
      await page.evaluate(() => document.fonts.ready)
      await pause(SETTLED_MS)
      const bytes = await page.screenshot({ animations: 'disabled' })
      writeFileSync(join(root, folder, withTheme(name, theme)), bytes)
      console.log(`${withTheme(name, theme)} ${Math.ceil(bytes.length / 1024)} kB`)
    }
  }
  await context.close()
  served.kill('SIGINT')
  await ended(served)
}

const SETTLED_MS = 600
const browserArgs = ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]

function chromiumHere() {
  const places = [process.env.TALLY_CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome']
  const found = places.find((path) => path !== undefined && existsSync(path))
  if (found === undefined) throw new Error('no Chromium here: TALLY_CHROMIUM names one')
  return found
}

function start(args, environment = {}) {
  return spawn(process.execPath, [cli, ...args], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NO_COLOR: '1', BANK_BOOK: book, ...environment }
  })
}

async function tally(args, expected) {
  const child = start(args)
  child.stdout.resume()
  const code = await ended(child)
  if (code !== expected) throw new Error(`tally ${args[0]} ended with ${code}, not ${expected}`)
}

function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  return new Promise((resolve) => child.once('exit', resolve))
}

/** The first document of `--json` that has this; the rest is read and dropped. */
function said(child, part) {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      const line = text.split('\n').find((one) => one.includes(part) && one.endsWith('}'))
      if (line !== undefined) resolve(JSON.parse(line))
    })
    child.stdout.on('end', () => reject(new Error(`it ended without ${part}: ${text}`)))
  })
}

function transfers() {
  return existsSync(book) ? readFileSync(book, 'utf8').split('\n').length - 1 : 0
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

await main(process.argv.slice(2))
