// One published request: what its publisher is answered, and how its publish is acknowledged.

import { type DeviceErrorCode, parseOperation } from '@jobcast/contract'
import { DeviceError } from '../../domain/device-error.ts'
import type { SeenQueue } from '../../domain/device-link.ts'
import { clientTokenOf, parsePayload } from '../../domain/device-request.ts'
import { type DeviceKey, StorageUnavailable, TooMuchWaiting } from '../../domain/store.ts'
import type { Tell } from '../../observe/events.ts'
import { type GatewayDeps, serveOperation } from '../serve-operation.ts'
import { rejectionJson } from '../to-device.ts'
import type { Reason } from './reason.ts'

export type ServeDeps = GatewayDeps & { tell: Tell }

export type ServedRequest = {
  answer: 'accepted' | 'rejected'
  json: string
  /** What the answer told the device of its queue. */
  seen: SeenQueue | undefined
  /** Other than success: it was not dealt with, and should be sent again. */
  acknowledgement: Reason
}

/** `topic` is the part behind the device's prefix. Never rejects. */
export async function serveRequest(
  deps: ServeDeps,
  device: DeviceKey,
  topic: string,
  payload: Buffer,
): Promise<ServedRequest> {
  try {
    const operation = parseOperation(topic)
    if (operation === undefined) throw new DeviceError('InvalidTopic', 'The topic names no operation.')
    const { json, gap, seen } = await serveOperation(deps, device, operation, parsePayload(payload), 'object')
    return { answer: gap ? 'rejected' : 'accepted', json, seen, acknowledgement: 'success' }
  } catch (thrown) {
    const error = asDeviceError(deps, device, thrown)
    return {
      answer: 'rejected',
      json: rejectionJson(error, deps.moment().at, tokenIn(payload)),
      seen: undefined,
      acknowledgement: unfinished[error.code] ?? 'success',
    }
  }
}

const unfinished: Partial<Record<DeviceErrorCode, Reason>> = {
  InternalError: 'internal-error',
  RequestThrottled: 'too-many',
}

function asDeviceError({ tell }: ServeDeps, { deviceId }: DeviceKey, thrown: unknown): DeviceError {
  if (thrown instanceof DeviceError) return thrown
  if (thrown instanceof TooMuchWaiting) return new DeviceError('RequestThrottled', 'Too much is waiting.')
  if (!(thrown instanceof StorageUnavailable)) {
    tell({ kind: 'device-request-failed', deviceId, error: thrown })
  }
  return new DeviceError('InternalError', 'This cannot be done now. Try again later.')
}

/** Whatever else is wrong with the request, a clientToken that can be read is given back. */
function tokenIn(payload: Buffer): string | undefined {
  try {
    return clientTokenOf(parsePayload(payload))
  } catch {
    return undefined
  }
}
