/** A package that posts twice, for the script of a counterexample. */
export const target = { package: new URL('./counter/', import.meta.url) }

export const options = { bounds: { steps: 20 } }
