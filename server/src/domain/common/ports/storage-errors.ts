// What a step of the store rejects with when the database is at fault, and not its input.

export class StorageUnavailable extends Error {
  constructor(cause: unknown) {
    super(`storage is not available: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'StorageUnavailable'
  }
}

/**
 * As StorageUnavailable, but what was to be written may have been: the database was lost before it confirmed the commit, or
 * between the commit and a read that the answer needs.
 */
export class CommitUnknown extends StorageUnavailable {
  constructor(cause: unknown) {
    super(cause)
    this.name = 'CommitUnknown'
  }
}

/** What needs space that is kept for other writes, such as the ends of executions: those go on. */
export class SpaceShort extends StorageUnavailable {
  constructor(cause: unknown) {
    super(cause)
    this.name = 'SpaceShort'
  }
}

/** For reads behind a commit of the same request: if one fails, it must not look as if nothing was written. */
export async function readWritten<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw error instanceof StorageUnavailable ? new CommitUnknown(error) : error
  }
}

/** Others hold locks that a write needs, and it was not to wait for them (see WriteOptions). Nothing of it is written. */
export class LocksBusy extends Error {
  constructor() {
    super('other transactions hold locks that a write needs')
    this.name = 'LocksBusy'
  }
}

/** More is waiting to be written than may wait. Nothing of what was refused is written. */
export class TooMuchWaiting extends Error {
  constructor() {
    super('too much is waiting to be written')
    this.name = 'TooMuchWaiting'
  }
}
