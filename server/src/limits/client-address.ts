// The address of a client behind reverse proxies: the last one of X-Forwarded-For that no trusted proxy has.

import { isIP } from 'node:net'
import { listOf } from '../domain/webhook/allowed-address.ts'

export type IsTrustedProxy = (address: string) => boolean

/** Addresses, or ranges as 10.1.0.0/16. Undefined where there are none: then nothing need be looked up. */
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
    // What is no address was not written by a proxy of ours.
    if (isIP(before) === 0) break
    address = before
  }
  return address
}
