/** Adds up vitest's JSON reports and prints one plain line; fails when no test ran. */
import { existsSync, readFileSync } from 'node:fs'
import { givenWords } from './words.mjs'

const usage = 'scripts/count-tests.mjs REPORT...'
const paths = givenWords(usage, (words) => words.length > 0 && words.every(existsSync))
const reports = paths.map((path) => JSON.parse(readFileSync(path, 'utf8')))
const sum = (field) => reports.reduce((total, report) => total + report[field], 0)
const passed = sum('numPassedTests')
const failed = sum('numFailedTests')

console.log(`${passed} passed, ${failed} failed`)
process.exitCode = passed > 0 && failed === 0 ? 0 : 1
