import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowAddresses, isAddressRange } from '../../../src/domain/webhook/allowed-address.ts'

const isAllowed = allowAddresses([])

const refused = [
  '0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.255',
  '169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.168.0.1 192.168.255.255',
  '198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255',
  ':: ::1 ::127.0.0.1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.1.2.3 ::ffff:169.254.169.254',
  '::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a00:1 64:ff9b:1::1 2002:7f00:1:: 2002:c0a8:1:: 2001::1',
  '2001:db8::1 3fff::1 fc00::1 fd12:3456::1 fe80::1 febf::1 fec0::1 ff02::1 100::1',
].flatMap((line) => line.split(' '))
for (const address of refused) {
  test(`nothing is sent to ${address}`, () => assert.equal(isAllowed(address), false))
}

const allowed = [
  '1.1.1.1 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 169.253.255.255',
  '172.15.255.255 172.32.0.1 192.167.255.255 192.169.0.1 198.17.255.255 198.20.0.1 223.255.255.255',
  '::ffff:1.1.1.1 2606:4700::1111 2a00:1450:4001::200e 2001:4860:4860::8888 2003::1',
].flatMap((line) => line.split(' '))
for (const address of allowed) {
  test(`something may be sent to ${address}`, () => assert.equal(isAllowed(address), true))
}

test('an exception is for that address or range alone, in both ways to write IPv4', () => {
  const excepting = allowAddresses(['10.1.0.0/16', '127.0.0.1', 'fd00::/8', '::1'])
  for (const address of ['10.1.2.3', '127.0.0.1', 'fd00::1', '::1', '::ffff:127.0.0.1', '1.1.1.1']) {
    assert.ok(excepting(address), address)
  }
  for (const address of ['10.2.0.1', '127.0.0.2', 'fc00::1', '::2', '192.168.0.1']) {
    assert.ok(!excepting(address), address)
  }
})

test('an address, or one with a length of its prefix, is a range', () => {
  for (const text of ['10.0.0.0/8', '127.0.0.1', '0.0.0.0/0', '::/0', 'fe80::/10', '::1/128']) {
    assert.ok(isAddressRange(text), text)
  }
  for (const text of [
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0/8',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '1/8',
    'fe80::1%eth0',
  ]) {
    assert.ok(!isAddressRange(text), text)
  }
})
