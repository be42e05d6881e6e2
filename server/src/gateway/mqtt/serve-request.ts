// Serves one published request: its answer and its acknowledgement.

import { type DeviceErrorCode, type DeviceOperation, deviceErrors } from '@jobcast/contract'
import {
  CommitUnknown,
  StorageUnavailable,
  TooMuchWaiting,
} from '../../domain/common/ports/storage-errors.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import type { SeenQueue } from '../../domain/device/ports/device-link.ts'
import { DeviceError } from '../../domain/execution/device-error.ts'
import { clientTokenOf, parsePayload } from '../../domain/execution/device-request.ts'
import type { Tell } from '../../observe/events.ts'
import { type GatewayDeps, type Served, serveOperation } from '../serve-operation.ts'
import { rejectionJson } from '../to-device.ts'
import type { Reason } from './reason.ts'

export type ServeDeps = GatewayDeps & { tell: Tell }

export type ServedRequest = {
  answer: 'accepted' | 'rejected'
  json: string
  /** What the answer tells the device about its queue. */
  seen: SeenQueue | undefined
  /** Any reason but success: the request was not processed and should be sent again. */
  acknowledgement: Reason
}

/** `operation`: undefined if the topic names none. Pass what it throws or rejects with to `refuseRequest`. */
export function serveRequest(
  deps: ServeDeps,
  device: DeviceKey,
  operation: DeviceOperation | undefined,
  payload: Buffer,
): Promise<Served> {
  if (operation === undefined) throw new DeviceError('InvalidTopic', 'Unknown operation in the topic.')
  return serveOperation(deps, device, operation, parsePayload(payload), 'object')
}

export function acceptRequest({ json, gap, seen }: Served): ServedRequest {
  return { answer: gap ? 'rejected' : 'accepted', json, seen, acknowledgement: 'success' }
}

export function refuseRequest(
  deps: ServeDeps,
  device: DeviceKey,
  operation: DeviceOperation | undefined,
  payload: Buffer,
  thrown: unknown,
): ServedRequest {
  const error = asDeviceError(deps, device, thrown)
  return {
    answer: 'rejected',
    json: toRejection(operation, rejectionJson(error, deps.moment().at, tokenIn(payload)), error),
    seen: undefined,
    acknowledgement: failureReasons[error.code] ?? 'success',
  }
}

/** Rejections of shadow updates have numeric codes. */
function toRejection(operation: DeviceOperation | undefined, json: string, { code }: DeviceError): string {
  if (operation?.name !== 'attributes') return json
  return JSON.stringify({ ...JSON.parse(json), code: deviceErrors[code].status })
}

const failureReasons: Partial<Record<DeviceErrorCode, Reason>> = {
  InternalError: 'internal-error',
  RequestThrottled: 'too-many',
}

function asDeviceError({ tell }: ServeDeps, { deviceId }: DeviceKey, thrown: unknown): DeviceError {
  if (thrown instanceof DeviceError) return thrown
  if (thrown instanceof TooMuchWaiting)
    return new DeviceError('RequestThrottled', 'Too many requests in the queue.')
  if (!(thrown instanceof StorageUnavailable)) {
    tell({ kind: 'device-request-failed', deviceId, error: thrown })
  }
  const isOpen = thrown instanceof CommitUnknown
  const text = `Temporarily unavailable.${isOpen ? ' The request may have taken effect.' : ''} Try again later.`
  return new DeviceError('InternalError', text)
}

/** A readable clientToken is returned even if the rest of the request is invalid. */
function tokenIn(payload: Buffer): string | undefined {
  try {
    return clientTokenOf(parsePayload(payload))
  } catch {
    return undefined
  }
}
