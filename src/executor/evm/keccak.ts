/**
 * Keccak-256 as Ethereum uses it: the padding of the submission, not that of FIPS 202. It is here
 * because selectors are needed where verification runs, with or without the optional coder; short
 * texts are all that it is made for.
 */
export function keccak256(bytes: Uint8Array): Uint8Array {
  const state = new Array<bigint>(25).fill(0n)
  const padded = new Uint8Array((Math.floor(bytes.length / RATE) + 1) * RATE)
  padded.set(bytes)
  padded[bytes.length] = 0x01
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 0x80
  const words = new DataView(padded.buffer)
  for (let block = 0; block < padded.length; block += RATE) {
    for (let lane = 0; lane < RATE / 8; lane += 1) {
      state[lane] = at(state, lane) ^ words.getBigUint64(block + lane * 8, true)
    }
    permute(state)
  }
  const digest = new DataView(new ArrayBuffer(32))
  for (let lane = 0; lane < 4; lane += 1) digest.setBigUint64(lane * 8, at(state, lane), true)
  return new Uint8Array(digest.buffer)
}

const RATE = 136
const ROUNDS = 24

function permute(state: bigint[]): void {
  let register = 1
  for (let round = 0; round < ROUNDS; round += 1) {
    theta(state)
    const moved = rotated(state)
    for (let lane = 0; lane < 25; lane += 1) {
      const row = lane - (lane % 5)
      const next = at(moved, row + ((lane + 1) % 5))
      state[lane] = at(moved, lane) ^ (~next & LANE & at(moved, row + ((lane + 2) % 5)))
    }
    // The constant of a round comes out of a shift register of eight bits.
    let constant = 0n
    for (let bit = 0; bit < 7; bit += 1) {
      if ((register & 1) === 1) constant |= 1n << ((1n << BigInt(bit)) - 1n)
      register = (register << 1) ^ (register >> 7 === 1 ? 0x171 : 0)
    }
    state[0] = at(state, 0) ^ constant
  }
}

function theta(state: bigint[]): void {
  const columns = [0, 1, 2, 3, 4].map((x) =>
    [0, 5, 10, 15, 20].reduce((sum, y) => sum ^ at(state, x + y), 0n)
  )
  for (let lane = 0; lane < 25; lane += 1) {
    const x = lane % 5
    const change = at(columns, (x + 4) % 5) ^ rotate(at(columns, (x + 1) % 5), 1n)
    state[lane] = at(state, lane) ^ change
  }
}

/** The steps rho and pi: each lane turned, and at its new place. */
function rotated(state: readonly bigint[]): readonly bigint[] {
  const moved = [...state]
  let [x, y] = [1, 0]
  for (let step = 0; step < ROUNDS; step += 1) {
    const turn = BigInt((((step + 1) * (step + 2)) / 2) % 64)
    const lane = rotate(at(state, x + 5 * y), turn)
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
    moved[x + 5 * y] = lane
  }
  return moved
}

const LANE = (1n << 64n) - 1n

function rotate(lane: bigint, by: bigint): bigint {
  return ((lane << by) | (lane >> (64n - by))) & LANE
}

function at(lanes: readonly bigint[], index: number): bigint {
  return lanes[index] ?? 0n
}
