/** Where the sender of a message is given its outcome. */
export interface Reply<Outcome> {
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** Gives the sender of a message its outcome, an error too: nothing may wait for ever (L3). */
export async function told<Outcome>(
  sender: Reply<Outcome>,
  act: () => Promise<Outcome>
): Promise<void> {
  try {
    sender.resolve(await act())
  } catch (error) {
    sender.reject(error)
    throw error
  }
}
