// The port to the server: what the agent needs of a connection, whichever way it goes.

import { type DeviceErrorCode, type DeviceOperation, deviceErrors } from '@jobcast/contract'

/**
 * One attempt of an execution, as it is called on the wire. Another service, or one whose data is new, gives the same
 * numbers to others: `queuedAt`, where it is known, tells them apart.
 */
export type AttemptKey = { jobId: string; attempt: number; queuedAt?: number | undefined }

/** Whether the two are known to be different in spite of their numbers. */
export function isAnother(one: Pick<AttemptKey, 'queuedAt'>, other: Pick<AttemptKey, 'queuedAt'>): boolean {
  return one.queuedAt !== undefined && other.queuedAt !== undefined && one.queuedAt !== other.queuedAt
}

export type Answer =
  | { outcome: 'accepted'; json: Record<string, unknown> }
  | { outcome: 'rejected'; code: DeviceErrorCode; message: string; json: Record<string, unknown> }

/** No answer came: the request may have been carried out, or not. Requests are made so that asking again is safe. */
export class NoAnswer extends Error {}

export type Transport = {
  start(): void
  /** May be called twice; resolves when the connection is closed. */
  stop(): Promise<void>
  /** Resolves when there is somebody to ask, as far as is known. Rejects when the signal is aborted. */
  ready(signal: AbortSignal): Promise<void>
  /** Rejects with NoAnswer. */
  request(operation: DeviceOperation, fields: Record<string, unknown>): Promise<Answer>
  /** Resolves when there may be something to start. Rejects when the signal is aborted. */
  waitForWork(signal: AbortSignal): Promise<void>
  /**
   * Tells when this attempt is to be canceled, with the seconds that are left for it; 0: it is over already.
   * Also of a cancel that came before. Gives what ends the watch.
   */
  watch(attempt: AttemptKey, onCancel: (deadlineSeconds: number) => void): () => void
}

/** Whether the server says that nobody waits for this attempt any more. */
export async function isOver(
  transport: Pick<Transport, 'request'>,
  { jobId, attempt }: AttemptKey,
): Promise<boolean> {
  const fields = { executionNumber: attempt, includeJobDocument: false }
  const answer = await transport.request({ name: 'describe', jobId }, fields)
  return answer.outcome === 'rejected' && meansOver(answer.code)
}

/** It has ended, or its next attempt is what counts now. */
export function meansOver(code: DeviceErrorCode): boolean {
  return code === 'TerminalStateReached' || code === 'InvalidStateTransition' || code === 'ResourceNotFound'
}

export function rejectionOf(json: Record<string, unknown>, code: unknown): Answer | undefined {
  if (typeof code !== 'string' || !(code in deviceErrors)) return undefined
  return { outcome: 'rejected', code: code as DeviceErrorCode, message: String(json.message ?? code), json }
}

export function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}
