// What CONNECT requests and CONNACK grants.

import { randomUUID } from 'node:crypto'
import type { IConnackPacket } from 'mqtt-packet'
import { maxPacketSize } from './frame-rules.ts'
import type { OutboxTerms } from './outbox.ts'
import type { ConnectPacket } from './packets.ts'
import { ProtocolError, type ProtocolVersion, type Reason, reasonCodes, toReturnCode } from './reason.ts'

const maxWindow = 50
// Upper bound of the keep-alive, also for devices that request none.
const maxKeepAliveSeconds = 20 * 60

export type ConnectTerms = OutboxTerms & {
  /** After this long without a packet the device is considered gone. */
  silenceMs: number
  /** Set if it differs from the requested one. */
  keepAliveSeconds: number | undefined
  assignedClientId: string | undefined
}

/** Throws ProtocolError for what is refused before sign-in. */
export function termsOf(connect: ConnectPacket): ConnectTerms {
  const { version, clientId, clean = true, protocolId, properties = {}, will } = connect
  if (clientId === '' && version === 4 && (!clean || protocolId === 'MQIsdp'))
    throw new ProtocolError('bad-client-id')
  if (version === 5) {
    if (properties.authenticationMethod !== undefined) throw new ProtocolError('bad-authentication-method')
    // We send no wills, but CONNACK states these limits.
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

/** Undefined if that version has no code for it. */
export function refusal(version: ProtocolVersion, reason: Reason): IConnackPacket | undefined {
  if (version === 5) return { cmd: 'connack', sessionPresent: false, reasonCode: reasonCodes[reason] }
  const returnCode = toReturnCode(reason)
  return returnCode === undefined ? undefined : { cmd: 'connack', sessionPresent: false, returnCode }
}

/** MQTT 3.1.1 cannot override the keep-alive, so a longer one is accepted; none at all becomes our maximum. */
function keepAliveOf({ version, keepalive = 0 }: ConnectPacket): number {
  if (keepalive === 0) return maxKeepAliveSeconds
  return version === 4 ? keepalive : Math.min(keepalive, maxKeepAliveSeconds)
}

/** A repeated property is an array. */
function isCount(value: unknown): boolean {
  return typeof value === 'number' && value >= 1
}
