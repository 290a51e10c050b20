import { createKeyPairSignerFromPrivateKeyBytes, getAddressEncoder } from '@solana/kit'

/** Accounts of the example, made of known numbers: they are only good here. */

export async function solanaAccount(number: number) {
  const seed = new Uint8Array(32).fill(number)
  const signer = await createKeyPairSignerFromPrivateKeyBytes(seed)
  // As the Solana CLI writes a key into a file.
  const keyFile = JSON.stringify([...seed, ...getAddressEncoder().encode(signer.address)])
  return { signer, address: signer.address, keyFile }
}

export const user = await solanaAccount(11)
export const relayer = await solanaAccount(12)
export const mint = await solanaAccount(13)
export const vault = await solanaAccount(14)
