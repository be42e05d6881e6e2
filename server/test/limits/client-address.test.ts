import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientAddress, trustProxies } from '../../src/limits/client-address.ts'

const isTrusted = trustProxies(['10.0.0.0/8', '::1'])

const cases: [string, string, string | undefined, string][] = [
  ['a stranger names nobody', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
  ['a proxy names its client', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
  ['two proxies name it together', '::1', '203.0.113.9, 10.1.2.3', '203.0.113.9'],
  ['what a client has written itself does not count', '10.1.2.3', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
  ['a proxy that names nobody stands for itself', '10.1.2.3', undefined, '10.1.2.3'],
  ['what is no address is not believed', '10.1.2.3', 'unknown', '10.1.2.3'],
]
for (const [title, peer, forwardedFor, expected] of cases) {
  test(title, () => assert.equal(clientAddress(peer, forwardedFor, isTrusted), expected))
}

test('without trusted proxies the peer is the client', () => {
  assert.equal(clientAddress('10.1.2.3', '203.0.113.9', trustProxies([])), '10.1.2.3')
})
