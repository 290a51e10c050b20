/** Packages that the console's page is bundled from: what is shipped has their code in it. */
export const bundledInPage = [
  'preact',
  '@preact/signals',
  '@preact/signals-core',
  '@noble/ed25519',
  '@fontsource-variable/inter',
  '@fontsource-variable/jetbrains-mono'
]

/** Where the bundle lies. */
export const pageFolder = 'dist/src/console/page'
