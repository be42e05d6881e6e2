// What a step of the store rejects with when the database is at fault, and not its input.

export class StorageUnavailable extends Error {
  constructor(cause: unknown) {
    super(`storage is not available: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'StorageUnavailable'
  }
}

/** More is waiting to be written than may wait. Nothing of what was refused is written. */
export class TooMuchWaiting extends Error {
  constructor() {
    super('too much is waiting to be written')
    this.name = 'TooMuchWaiting'
  }
}
