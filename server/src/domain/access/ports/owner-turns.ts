/**
 * Limits expensive work that callers can repeat at will: each owner gets a small share of the event loop, however many calls
 * it sends.
 */
export type OwnerTurns = {
  /** Resolves when it is the owner's turn, for this many steps. Throws J-908 if too many calls of the owner wait. */
  take(ownerNo: number, steps: number): Promise<void>
}
