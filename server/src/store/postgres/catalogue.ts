// The jobs and devices of an owner. A trigger looks them up and then creates executions; in between they must not be deleted or
// renamed: an execution would wait for a deleted device, or show a wrong name. Locking the rows of 10,000 devices took 23 ms, a
// third of the time of their executions, so one lock of the owner replaces them.

import type { WriteOptions } from '../../domain/trigger/ports/write-options.ts'
import { type Database, lockWaitMs } from './database.ts'
import type { Names } from './directory.ts'
import { InOrder } from './in-order.ts'
import type { Launched, LoneStatement } from './launch-alone.ts'
import { locks } from './locks.ts'
import type { Transaction } from './transaction.ts'

/** Parameters: owners, and the cached states of their names or null. */
export const HOLD = 'SELECT hold_names($1::int[], $2::text[])'
const CHANGE =
  `SELECT pg_advisory_xact_lock(${locks.catalogueOfOwner}, no) FROM unnest($1::int[]) AS no` as const

export class Catalogue {
  readonly #db: Database
  /** By owner. Steps of one process take effect in the order of sending; the order between processes is not defined. */
  readonly #inOrder = new InOrder<number>()

  constructor(db: Database) {
    this.#db = db
  }

  /**
   * Prevents changes during the work; a shared lock. With cached names, the transaction fails if one of them has changed
   * (`areNamesChanged`).
   */
  hold<T>(
    ownerNos: Iterable<number>,
    names: Names | undefined,
    work: (transaction: Transaction, releaseTurn: () => void) => Promise<T>,
    options?: WriteOptions,
  ): Promise<T> {
    const owners = ascending(ownerNos)
    const states = names && owners.map((ownerNo) => names.get(ownerNo)?.state)
    return this.#inTurn(
      owners,
      (releaseTurn) => async (transaction) => {
        // Not awaited, because the statements of the work are sent after it.
        const held = transaction.query(HOLD, [owners, states ?? null])
        const [value] = await Promise.all([
          work(transaction, () => held.then(releaseTurn, releaseTurn)),
          held,
        ])
        return value
      },
      options,
    )
  }

  /** For a statement that takes the lock itself. Returns the assigned ids. */
  launch(
    ownerNos: Iterable<number>,
    statement: LoneStatement,
    options: WriteOptions = { waitsForLocks: true },
  ): Promise<Launched> {
    return this.#inOrder.take(
      ascending(ownerNos),
      () => this.#db.launch(statement, options),
      options.waitsForLocks ? undefined : lockWaitMs,
    )
  }

  /** For deletions and renames; an exclusive lock. */
  change<T>(
    ownerNos: Iterable<number>,
    work: (transaction: Transaction) => Promise<T>,
    options?: WriteOptions,
  ): Promise<T> {
    const owners = ascending(ownerNos)
    return this.#inTurn(
      owners,
      (releaseTurn) => async (transaction) => {
        await transaction.query(CHANGE, [owners])
        releaseTurn()
        return work(transaction)
      },
      options,
    )
  }

  #inTurn<T>(
    owners: number[],
    work: (releaseTurn: () => void) => (transaction: Transaction) => Promise<T>,
    options: WriteOptions = { waitsForLocks: true },
  ): Promise<T> {
    return this.#inOrder.take(
      owners,
      (releaseTurn) => this.#db.inGroupTransaction(work(releaseTurn), options),
      options.waitsForLocks ? undefined : lockWaitMs,
    )
  }
}

function ascending(ownerNos: Iterable<number>): number[] {
  return [...new Set(ownerNos)].sort((a, b) => a - b)
}
