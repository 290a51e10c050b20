/** The words of a script's command line; where it takes others, prints how it is used, and ends. */
export function givenWords(usage, areTaken) {
  const words = process.argv.slice(2)
  if (areTaken(words)) return words
  console.error(`usage: node ${usage}`)
  process.exit(words.includes('--help') ? 0 : 2)
}
