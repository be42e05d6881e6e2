// The jobs and devices of an owner. A trigger looks some up and then makes executions of them; in between none of them
// may be deleted, or renamed: an execution would wait for a device that is gone, or show a name it never had. Locking the
// rows of 10,000 devices took 23 ms, a third of what their executions took; so one lock of the owner stands for them.

import type { WriteOptions } from '../../domain/trigger/ports/write-options.ts'
import { type Database, lockWaitMs } from './database.ts'
import type { Names } from './directory.ts'
import { InOrder } from './in-order.ts'
import type { Launched, LoneStatement } from './launch-alone.ts'
import { locks } from './locks.ts'
import type { Transaction } from './transaction.ts'

/** For owners, and what is remembered of their names or null. */
export const HOLD = 'SELECT hold_names($1::int[], $2::text[])'
const CHANGE =
  `SELECT pg_advisory_xact_lock(${locks.catalogueOfOwner}, no) FROM unnest($1::int[]) AS no` as const

export class Catalogue {
  readonly #db: Database
  /** By owner. What one process sends takes effect in the order in which it is sent; with others nobody can tell. */
  readonly #inOrder = new InOrder<number>()

  constructor(db: Database) {
    this.#db = db
  }

  /**
   * All of it stays as it is for the statements of the work. Many may hold it at once. With names that are remembered the
   * transaction fails where one of them has changed (`areNamesChanged`).
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
        // Not waited for: what the work sends is behind it.
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

  /** For a statement that holds it by itself. Gives the ids that it has taken. */
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

  /** For whoever deletes or renames: it waits for those that hold it, and they for it. */
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
