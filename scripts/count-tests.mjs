/** Adds up vitest's JSON reports and prints one plain line; fails when no test ran. */
import { readFileSync } from 'node:fs'

const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')))
const sum = (field) => reports.reduce((total, report) => total + report[field], 0)
const passed = sum('numPassedTests')
const failed = sum('numFailedTests')

console.log(`${passed} passed, ${failed} failed`)
process.exitCode = passed > 0 && failed === 0 ? 0 : 1
