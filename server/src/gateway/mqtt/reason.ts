// Reasons for refusals and disconnects, used in events, with their MQTT 5 reason codes.
// MQTT 3.1.1 has codes for few of them; for the others the connection is closed without one.

export const reasonCodes = {
  success: 0x00,
  disconnected: 0x00,
  'no-subscription-existed': 0x11,
  'too-slow': 0x80,
  malformed: 0x81,
  'protocol-error': 0x82,
  'internal-error': 0x83,
  'unsupported-version': 0x84,
  'bad-client-id': 0x85,
  'not-authorized': 0x87,
  'credential-void': 0x87,
  unavailable: 0x88,
  stopping: 0x8b,
  'bad-authentication-method': 0x8c,
  'too-silent': 0x8d,
  'taken-over': 0x8e,
  'bad-filter': 0x8f,
  'bad-topic': 0x90,
  'topic-alias': 0x94,
  'too-large': 0x95,
  'rate-too-high': 0x96,
  'too-many': 0x97,
  'retain-not-supported': 0x9a,
  'qos-not-supported': 0x9b,
  'use-another-server': 0x9c,
  'shared-subscription': 0x9e,
  'subscription-identifier': 0xa1,
} as const

export type Reason = keyof typeof reasonCodes

export type ProtocolVersion = 4 | 5

const returnCodes: Partial<Record<Reason, number>> = {
  success: 0,
  'unsupported-version': 1,
  'bad-client-id': 2,
  unavailable: 3,
  'too-many': 3,
  'not-authorized': 5,
}

/** The CONNACK return code in MQTT 3.1.1; undefined if there is none. */
export function toReturnCode(reason: Reason): number | undefined {
  return returnCodes[reason]
}

/** The lowest failure code, and the only one MQTT 3.1.1 has for a filter. */
export const failure = 0x80

export function isFailure(reason: Reason): boolean {
  return reasonCodes[reason] >= failure
}

/** A protocol violation, or a request for an unsupported feature: the connection is closed. */
export class ProtocolError extends Error {
  readonly reason: Reason

  constructor(reason: Reason) {
    super(reason)
    this.name = 'ProtocolError'
    this.reason = reason
  }
}
