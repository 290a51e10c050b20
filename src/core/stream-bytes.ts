/** All bytes of a stream; undefined where they are more, of which no more is read. */
export async function bytesWithin(
  stream: AsyncIterable<unknown>,
  bytesMax: number
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    // Streams without an encoding give bytes.
    const piece = chunk as Uint8Array
    bytes += piece.byteLength
    // Leaving the loop closes the stream.
    if (bytes > bytesMax) return undefined
    chunks.push(piece)
  }
  return Buffer.concat(chunks)
}
