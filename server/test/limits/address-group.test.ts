import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressGroup } from '../../src/limits/address-group.ts'

for (const [address, group] of [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['', ''],
]) {
  test(`${address} is counted as ${group}`, () => assert.equal(addressGroup(address as string), group))
}
