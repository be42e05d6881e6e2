/**
 * For what a caller can make as long as it likes by sending it again: one owner has a small share of the event loop,
 * however many calls it sends.
 */
export type OwnerTurns = {
  /** Resolves when it is the owner's turn, for so many steps. Throws J-908 if too many of the owner wait. */
  take(ownerNo: number, steps: number): Promise<void>
}
