/**
 * One attempt of an execution, as named on the wire. Another server, or one with a new database, uses the same numbers
 * for other executions: `queuedAt`, if present, tells them apart.
 */
export type AttemptKey = { jobId: string; attempt: number; queuedAt?: number | undefined }

/** Whether two attempts with the same numbers belong to different executions. */
export function isAnother(one: Pick<AttemptKey, 'queuedAt'>, other: Pick<AttemptKey, 'queuedAt'>): boolean {
  return one.queuedAt !== undefined && other.queuedAt !== undefined && one.queuedAt !== other.queuedAt
}
