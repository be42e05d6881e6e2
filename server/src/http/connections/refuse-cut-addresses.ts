// An address whose connections were cut off for pipelining too many requests may not reconnect at once, because each
// connection would cost as much as the previous one. Trusted proxies are not refused.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { addressGroup } from '../../limits/address-group.ts'
import type { IsTrustedProxy } from '../../limits/client-address.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import type { Tell } from '../../observe/events.ts'
import type { OnCut } from './pipelining.ts'

type CutDeps = { limits: RateLimits; tell: Tell }

/** Must be called before the service listens. */
export function refuseCutAddresses(
  server: Server,
  { limits, tell }: CutDeps,
  isTrustedProxy: IsTrustedProxy | undefined,
): OnCut {
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket
    if (address === undefined || !limits.isCutOff(addressGroup(address))) return
    tell({ kind: 'rate-limited', limit: 'address' })
    socket.destroy()
  })
  return ({ remoteAddress: address }, requests) => {
    tell({ kind: 'connection-refused', code: 'J-911', address })
    if (address !== undefined && !isTrustedProxy?.(address)) limits.chargeCut(addressGroup(address), requests)
  }
}
