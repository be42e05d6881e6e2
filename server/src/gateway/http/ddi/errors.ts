// HTTP statuses as in hawkBit: an action that has ended is 410 Gone.

import { DeviceError } from '../../../domain/execution/device-error.ts'
import { Refusal } from '../refusal.ts'

/** The same answer for an unknown device, a wrong token and a foreign tenant. */
export function unauthorized(): Refusal {
  return new Refusal(401, 'UnauthorizedException', 'Invalid device or token.', {
    'www-authenticate': 'TargetToken',
  })
}

export function notFound(message: string): Refusal {
  return new Refusal(404, 'ResourceNotFoundException', message)
}

export function gone(message: string): Refusal {
  return new Refusal(410, 'TerminalStateException', message)
}

export function invalid(message: string): Refusal {
  return new Refusal(400, 'InvalidRequestException', message)
}

/** A report that arrives too late is refused because of the execution's state. */
export function asDdiError(error: unknown): unknown {
  if (!(error instanceof DeviceError)) return error
  return error.code === 'InvalidStateTransition' ? gone(error.message) : error
}
