// Errors of store steps that are caused by the database and not by the input.

export class StorageUnavailable extends Error {
  constructor(cause: unknown) {
    super(`storage is not available: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'StorageUnavailable'
  }
}

/**
 * Like StorageUnavailable, but the write may have happened: the connection was lost before the database confirmed the commit,
 * or between the commit and a read that the answer needs.
 */
export class CommitUnknown extends StorageUnavailable {
  constructor(cause: unknown) {
    super(cause)
    this.name = 'CommitUnknown'
  }
}

/** The write needs disk space that is reserved for other writes, such as the ends of executions, which continue. */
export class SpaceShort extends StorageUnavailable {
  constructor(cause: unknown) {
    super(cause)
    this.name = 'SpaceShort'
  }
}

/** A request to the bucket with the content of files failed. `sentence`: the reason for the caller; `reason`: its error. */
export class BucketUnavailable extends StorageUnavailable {
  readonly sentence: string
  readonly reason: unknown

  constructor(message: string, sentence: string, reason: unknown) {
    super(message)
    this.name = 'BucketUnavailable'
    this.message = message
    this.sentence = sentence
    this.reason = reason
  }
}

/** For reads after a commit of the same request: an error must not suggest that nothing was written. */
export async function readWritten<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw error instanceof StorageUnavailable ? new CommitUnknown(error) : error
  }
}

/** Other transactions hold locks that the write needs, and it must not wait (see WriteOptions). Nothing is written. */
export class LocksBusy extends Error {
  constructor() {
    super('other transactions hold locks that a write needs')
    this.name = 'LocksBusy'
  }
}

/** Too many writes are waiting. A refused write leaves nothing behind. */
export class TooMuchWaiting extends Error {
  constructor() {
    super('too much is waiting to be written')
    this.name = 'TooMuchWaiting'
  }
}
