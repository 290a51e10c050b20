import fc from 'fast-check'

/**
 * One seed for every property of a run, so that the same tree gives the same verdict. `npm run
 * soak` takes fresh seeds; `TALLY_SEED=n` repeats one.
 */
const given = process.env['TALLY_SEED']
if (process.env['SOAK'] !== '1' || given !== undefined) {
  fc.configureGlobal({ seed: Number(given ?? 20_261_121) })
}
