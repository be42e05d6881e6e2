// The key that limits use for an address: an IPv4 address itself, or the /64 network of an IPv6 address, which providers
// assign to a single customer.

import { isIPv6 } from 'node:net'

const mappedIpv4 = '::ffff:'

export function addressGroup(address: string): string {
  if (!address.includes(':')) return address
  if (address.startsWith(mappedIpv4)) return address.slice(mappedIpv4.length)
  return isIPv6(address) ? networkOf(address) : address
}

/** The first four groups, without abbreviation. */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('::', 2)
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const behind = tail === '' ? 0 : tail.split(':').length
    while (groups.length < 8 - behind) groups.push('0')
  }
  return `${groups.slice(0, 4).join(':')}::/64`
}
