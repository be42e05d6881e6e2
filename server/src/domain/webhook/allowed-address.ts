// Which addresses webhooks may be sent to: any public unicast address, so not this machine or its network.
// A setting allows exceptions.

import { BlockList, isIP } from 'node:net'

/** Whether requests may be sent to this IP address. */
export type IsAllowedAddress = (address: string) => boolean

// From the IANA registries of special-purpose addresses. IPv4-mapped IPv6 (::ffff:a.b.c.d) is treated like a.b.c.d.
const forbidden = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by customers of a provider
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, and metadata services of clouds, which serve credentials
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocols
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '::/96', // unspecified, loopback, and IPv4-compatible
  '::ffff:0:0:0/96', // IPv4-translated
  '64:ff9b::/96', // NAT64
  '64:ff9b:1::/48', // local-use NAT64
  '100::/64', // discard
  '2001::/23', // protocols, including Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
  '5f00::/16', // segment routing
  'fc00::/7', // private
  'fe80::/10', // link-local
  'fec0::/10', // site-local
  'ff00::/8', // multicast
]

/** `exceptions`: addresses, or ranges such as 10.1.0.0/16. */
export function allowAddresses(exceptions: readonly string[]): IsAllowedAddress {
  const refused = listOf(forbidden)
  const excepted = listOf(exceptions)
  return (address) => {
    const family = address.includes(':') ? 'ipv6' : 'ipv4'
    return !refused.check(address, family) || excepted.check(address, family)
  }
}

export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}

export function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    // isIP is not used: its first IPv6 address adds 20 ms to the start of the server.
    const isV6 = address.includes(':')
    list.addSubnet(address, Number(bits ?? (isV6 ? 128 : 32)), isV6 ? 'ipv6' : 'ipv4')
  }
  return list
}
