// Distinguishes temporary failures, and those that the operator must solve, from our own bugs.

import pg from 'pg'
import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'

// Error classes: connection, insufficient resources (including a full disk), operator intervention, system, corrupted data.
const passingClasses = new Set(['08', '53', '57', '58', 'XX'])
// Read-only (a standby), idle too long inside a transaction, lock timeout.
const passingCodes = new Set(['25006', '25P03', '55P03'])
const internalError = 'XX000'

const lockTimeout = '55P03'

/** A lock was not available within the connection's lock_timeout. */
export function isLockTimeout(error: unknown): boolean {
  const { code } = (error instanceof StorageUnavailable ? error.cause : error) as { code?: unknown }
  return code === lockTimeout
}

/** The error comes from the database itself, so it responds. */
export function isAnswer(error: unknown): boolean {
  return (error instanceof StorageUnavailable ? error.cause : error) instanceof pg.DatabaseError
}

/** No partition exists for a row. */
export function isMissingPartition(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23514' && error.table === 'execution'
}

/** Cached names are outdated (hold_names). */
export function areNamesChanged(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === 'JC001'
}

/** Serialization failures and deadlocks: the transaction was rolled back and can be repeated. */
const inTheWay = new Set(['40001', '40P01'])

export function isInTheWay(error: unknown): boolean {
  return error instanceof pg.DatabaseError && inTheWay.has(error.code ?? '')
}

/** Converts errors of pg to errors of the store. */
export function failureOf(error: unknown): unknown {
  if (error instanceof StorageUnavailable) return error
  if (error instanceof pg.DatabaseError)
    return isPassing(error.code ?? '') ? new StorageUnavailable(error) : error
  // Errors that do not come from the server are lost or silent connections, or bugs in our calls.
  return error instanceof TypeError || error instanceof RangeError ? error : new StorageUnavailable(error)
}

function isPassing(code: string): boolean {
  return code !== internalError && (passingClasses.has(code.slice(0, 2)) || passingCodes.has(code))
}
