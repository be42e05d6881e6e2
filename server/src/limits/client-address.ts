// The address of a client behind reverse proxies: the last entry of X-Forwarded-For that is not a trusted proxy.

import { isIP } from 'node:net'
import { listOf } from '../domain/webhook/allowed-address.ts'

export type IsTrustedProxy = (address: string) => boolean

/** Takes addresses, or ranges such as 10.1.0.0/16. Undefined if there are none. */
export function trustProxies(ranges: readonly string[]): IsTrustedProxy | undefined {
  if (ranges.length === 0) return undefined
  const list = listOf(ranges)
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

export function clientAddress(
  peer: string,
  forwardedFor: string | string[] | undefined,
  isTrusted: IsTrustedProxy | undefined,
): string {
  if (isTrusted === undefined) return peer
  const named = String(forwardedFor ?? '').split(',')
  let address = peer
  while (isTrusted(address) && named.length > 0) {
    const before = named.pop()?.trim() ?? ''
    // Trusted proxies write valid addresses only.
    if (isIP(before) === 0) break
    address = before
  }
  return address
}
