// Which failures pass by themselves or are mended outside, as opposed to faults of ours.

import pg from 'pg'
import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'

// By their class: connection, no resources (also a full disk), stopped by an operator, system, damaged data.
const passingClasses = new Set(['08', '53', '57', '58', 'XX'])
// Read-only (a standby), idle too long inside a transaction, no lock in time.
const passingCodes = new Set(['25006', '25P03', '55P03'])
const internalError = 'XX000'

const lockTimeout = '55P03'

/** A lock was not to be had within the connection's lock_timeout. */
export function isLockTimeout(error: unknown): boolean {
  const { code } = (error instanceof StorageUnavailable ? error.cause : error) as { code?: unknown }
  return code === lockTimeout
}

/** The database itself has refused it: so it is there. */
export function isAnswer(error: unknown): boolean {
  return (error instanceof StorageUnavailable ? error.cause : error) instanceof pg.DatabaseError
}

/** There is no partition for a row. */
export function isMissingPartition(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23514' && error.table === 'execution'
}

/** What is remembered of names is not so any more (hold_names). */
export function areNamesChanged(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === 'JC001'
}

/** Two transactions stood in each other's way and one was taken back: it can simply be made again. */
const inTheWay = new Set(['40001', '40P01'])

export function isInTheWay(error: unknown): boolean {
  return error instanceof pg.DatabaseError && inTheWay.has(error.code ?? '')
}

/** What to reject with, given what pg rejected a statement with. */
export function failureOf(error: unknown): unknown {
  if (error instanceof StorageUnavailable) return error
  if (error instanceof pg.DatabaseError)
    return isPassing(error.code ?? '') ? new StorageUnavailable(error) : error
  // What does not come from the server is a connection that is gone or stays silent, or a fault in how we asked.
  return error instanceof TypeError || error instanceof RangeError ? error : new StorageUnavailable(error)
}

function isPassing(code: string): boolean {
  return code !== internalError && (passingClasses.has(code.slice(0, 2)) || passingCodes.has(code))
}
