// The port to the server: what the agent needs from any transport.
//
// Read next: mqtt-transport.ts and mqtt-link.ts, over MQTT; http-transport.ts and http-call.ts, where MQTT is blocked;
// ask.ts, requests that are retried until they are answered.

import { type DeviceErrorCode, type DeviceOperation, deviceErrors } from '@jobcast/contract'
import type { AttemptKey } from '../state/attempt-key.ts'

export type Answer =
  | { outcome: 'accepted'; json: Record<string, unknown> }
  | { outcome: 'rejected'; code: DeviceErrorCode; message: string; json: Record<string, unknown> }

/** No answer arrived, so the request may or may not have taken effect. All requests are safe to repeat. */
export class NoAnswer extends Error {}

export type Transport = {
  start(): void
  /** May be called twice; resolves when the connection is closed. */
  stop(): Promise<void>
  /** Resolves when a request can be sent. Rejects when the signal is aborted. */
  ready(signal: AbortSignal): Promise<void>
  /** Rejects with NoAnswer. */
  request(operation: DeviceOperation, fields: Record<string, unknown>): Promise<Answer>
  /** Resolves when there may be something to start. Rejects when the signal is aborted. */
  waitForWork(signal: AbortSignal): Promise<void>
  /**
   * Calls back when this attempt is canceled, also for a cancel received earlier, with the seconds left to stop it;
   * 0 means that it is over already. The returned function ends the watch.
   */
  watch(attempt: AttemptKey, onCancel: (deadlineSeconds: number) => void): () => void
}

/** Whether the server says that the attempt is over. */
export async function isOver(
  transport: Pick<Transport, 'request'>,
  { jobId, attempt }: AttemptKey,
): Promise<boolean> {
  const fields = { executionNumber: attempt, includeJobDocument: false }
  const answer = await transport.request({ name: 'describe', jobId }, fields)
  return answer.outcome === 'rejected' && meansOver(answer.code)
}

/** The execution has ended, or a later attempt has replaced this one. */
export function meansOver(code: DeviceErrorCode): boolean {
  return code === 'TerminalStateReached' || code === 'InvalidStateTransition' || code === 'ResourceNotFound'
}

/** The error codes of shadows are numbers. */
const shadowCodes: Record<number, DeviceErrorCode> = {
  404: 'ResourceNotFound',
  429: 'RequestThrottled',
  500: 'InternalError',
  503: 'InternalError',
}

export function rejectionOf(json: Record<string, unknown>, code: unknown): Answer | undefined {
  const named = typeof code === 'number' ? (shadowCodes[code] ?? 'InvalidRequest') : code
  if (typeof named !== 'string' || !Object.hasOwn(deviceErrors, named)) return undefined
  const message = typeof json.message === 'string' ? json.message : named
  return { outcome: 'rejected', code: named as DeviceErrorCode, message, json }
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
