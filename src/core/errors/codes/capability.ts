import type { CodeTexts } from '../texts.js'

export const capabilityCodes = {
  'sandbox.engine_missing': {
    message: 'Packages cannot run: {package} {version} is not installed.',
    fix: 'Run: npm install --save-exact {package}@{version}'
  },
  'sandbox.engine_mismatch': {
    message: 'The WebAssembly engine has hash {actual}; packages are measured with {expected}.',
    fix: 'Install exactly the version of the engine that package.json names as a peer.'
  },
  'sandbox.engine_failed': {
    message: 'A thread of the sandbox failed: {problem}.',
    fix: 'Try again; if it persists, check the memory left for threads.'
  },
  'sandbox.wall_clock': {
    message:
      'Package {packageId} ran for {wallMs} ms, though its gas had not run out. This says nothing about the package: the machine, or the engine, did not let it end.',
    fix: 'Look at what the machine does, then resume the run, or cancel it.'
  },
  'sandbox.closed': {
    message: 'The sandbox is closed.',
    fix: 'Open a new one before running packages.'
  },
  'capability.bundler_missing': {
    message: 'A package of several files cannot be packed: esbuild {version} is not installed.',
    fix: 'Run: npm install --save-exact --save-dev esbuild@{version}'
  },
  'capability.malformed_package': {
    message: 'The stored package {codeHash} cannot be used: {problem}.',
    fix: 'Remove it from the content store and install the package again.'
  },
  'capability.other_interface': {
    message: 'The package {codeHash} was packed for {theirs}; this program runs {ours}.',
    fix: 'Pack it again with this program and install that, or use the program it was packed for.'
  },
  'capability.duplicate_package': {
    message: 'Two packages have the id {id}.',
    fix: 'Uninstall one of them; an id names one package.'
  },
  'capability.invalid_score': {
    message: 'The score of {what} is not a decimal number of zero or more: {value}.',
    fix: 'Correct cost, latency or reliability in the manifest.'
  }
} as const satisfies CodeTexts
