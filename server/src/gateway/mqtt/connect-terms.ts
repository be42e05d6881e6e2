// What CONNECT asks for, and what CONNACK grants.

import { randomUUID } from 'node:crypto'
import type { IConnackPacket } from 'mqtt-packet'
import { maxPacketSize } from './frame-rules.ts'
import type { OutboxTerms } from './outbox.ts'
import type { ConnectPacket } from './packets.ts'
import { ProtocolError, type ProtocolVersion, type Reason, reasonCodes, toReturnCode } from './reason.ts'

const maxWindow = 50
// Whoever names no time, or a longer one, is asked to be heard every 20 minutes.
const maxKeepAliveSeconds = 20 * 60

export type ConnectTerms = OutboxTerms & {
  /** Silent for so long: the device is gone. */
  silenceMs: number
  /** Where it is not what the device asked for. */
  keepAliveSeconds: number | undefined
  assignedClientId: string | undefined
}

/** Throws ProtocolError for what is refused, whoever it is. */
export function termsOf(connect: ConnectPacket): ConnectTerms {
  const { version, clientId, clean = true, protocolId, properties = {}, will } = connect
  if (clientId === '' && version === 4 && (!clean || protocolId === 'MQIsdp'))
    throw new ProtocolError('bad-client-id')
  if (version === 5) {
    if (properties.authenticationMethod !== undefined) throw new ProtocolError('bad-authentication-method')
    // We send no wills, but have said what a device may ask for.
    if (will?.qos === 2) throw new ProtocolError('qos-not-supported')
    if (will?.retain) throw new ProtocolError('retain-not-supported')
  }
  const { receiveMaximum = maxWindow, maximumPacketSize = Number.POSITIVE_INFINITY } = properties
  if (!isCount(receiveMaximum) || !isCount(maximumPacketSize)) throw new ProtocolError('protocol-error')
  const keepAliveSeconds = keepAliveOf(connect)
  return {
    version,
    window: Math.min(receiveMaximum, maxWindow),
    maxPacketSize: maximumPacketSize,
    silenceMs: keepAliveSeconds * 1500,
    keepAliveSeconds: keepAliveSeconds === connect.keepalive ? undefined : keepAliveSeconds,
    assignedClientId: clientId === '' ? randomUUID() : undefined,
  }
}

export function acceptance({ version, ...terms }: ConnectTerms): IConnackPacket {
  if (version === 4) return { cmd: 'connack', sessionPresent: false, returnCode: 0 }
  return {
    cmd: 'connack',
    sessionPresent: false,
    reasonCode: reasonCodes.success,
    properties: {
      sessionExpiryInterval: 0,
      receiveMaximum: maxWindow,
      maximumQoS: 1,
      retainAvailable: false,
      maximumPacketSize: maxPacketSize,
      topicAliasMaximum: 0,
      wildcardSubscriptionAvailable: true,
      subscriptionIdentifiersAvailable: false,
      sharedSubscriptionAvailable: false,
      ...(terms.assignedClientId && { assignedClientIdentifier: terms.assignedClientId }),
      ...(terms.keepAliveSeconds && { serverKeepAlive: terms.keepAliveSeconds }),
    },
  }
}

/** Undefined when there is no word for it in that version. */
export function refusal(version: ProtocolVersion, reason: Reason): IConnackPacket | undefined {
  if (version === 5) return { cmd: 'connack', sessionPresent: false, reasonCode: reasonCodes[reason] }
  const returnCode = toReturnCode(reason)
  return returnCode === undefined ? undefined : { cmd: 'connack', sessionPresent: false, returnCode }
}

/** MQTT 3.1.1 has no way to name another time, so there a longer one stands; none at all is the longest of ours. */
function keepAliveOf({ version, keepalive = 0 }: ConnectPacket): number {
  if (keepalive === 0) return maxKeepAliveSeconds
  return version === 4 ? keepalive : Math.min(keepalive, maxKeepAliveSeconds)
}

/** A property that came twice is an array. */
function isCount(value: unknown): boolean {
  return typeof value === 'number' && value >= 1
}
