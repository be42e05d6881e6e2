// Ranges of addresses that a key may be used from.

import { type BlockList, isIP } from 'node:net'
import { ApiError } from '@jobcast/contract/words'
import { isAddressRange, listOf } from '../webhook/allowed-address.ts'

/** Throws J-500 for an invalid range. */
export function requireRanges(ranges: readonly string[]): void {
  const wrong = ranges.find((range) => !isAddressRange(range))
  if (wrong === undefined) return
  const detail = `addresses has ${JSON.stringify(wrong)}, which is neither an address nor a range such as 10.0.0.0/8.`
  throw new ApiError('J-500', { field: 'addresses', detail })
}

/** Built once for each cached key. */
const lists = new WeakMap<readonly string[], BlockList>()

export function isInRanges(ranges: readonly string[], address: string): boolean {
  const family = isIP(address)
  if (family === 0) return false
  const list = lists.get(ranges) ?? listOf(ranges)
  lists.set(ranges, list)
  return list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Whether all addresses of the one are in the other. */
export function isRangeWithin(one: string, other: string): boolean {
  const [inner, outer] = [partsOf(one), partsOf(other)]
  return inner.isV6 === outer.isV6 && inner.bits >= outer.bits && isInRanges([other], inner.address)
}

function partsOf(range: string): { address: string; bits: number; isV6: boolean } {
  const [address = '', bits] = range.split('/')
  const isV6 = address.includes(':')
  return { address, bits: Number(bits ?? (isV6 ? 128 : 32)), isV6 }
}
