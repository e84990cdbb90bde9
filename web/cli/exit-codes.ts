/** Documented in the README and in `unsilent --help`. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** Another process holds the database's writing side. */
  leaseHeld: 75,
  fatalConfiguration: 78,
} as const
