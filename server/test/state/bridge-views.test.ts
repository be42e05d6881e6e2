// Views of bridges that run on another node.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BridgeView, bridgeStateOf } from '../../src/domain/bridge/bridge.ts'
import { BridgeViews } from '../../src/state/bridge-views.ts'

const standby: BridgeView = {
  ...{ bridgeName: 'b1', ownerName: 'default', state: 'standby', since: null, lastFailure: null },
  ...{ lagMs: 0, devicesOnline: 0, waiting: 0, received: 0, sent: 0, dropped: 0, events: null },
}
const startedAt = Date.parse('2026-11-19T00:00:00Z')

function openViews() {
  const clock = { ms: 0 }
  const views = new BridgeViews({ now: () => startedAt + clock.ms, elapsed: () => clock.ms, nodeNo: 1 })
  return {
    clock,
    views,
    only: () => views.list().map((each) => [bridgeStateOf(each), each.nodeNo, each.asOf]),
  }
}

test('a view of another node is valid for five seconds, then the state is unknown', () => {
  const { clock, views, only } = openViews()
  views.local = () => [standby]
  assert.deepEqual(only(), [['unknown', null, null]])
  views.hear(2, { ...standby, state: 'connected' })
  clock.ms = 5000
  assert.deepEqual(only(), [['connected', 2, startedAt]])
  clock.ms = 5001
  assert.deepEqual(only(), [['unknown', null, null]])
})

test('a bridge on this node has the view of this node, whatever was reported before', () => {
  const { views, only } = openViews()
  views.hear(2, { ...standby, state: 'connected' })
  views.local = () => [{ ...standby, state: 'connecting', lastError: 'no' }]
  assert.deepEqual(only(), [['down', 1, startedAt]])
})

test('a bridge that is not in the settings of this node is known from the others', () => {
  const { views, only } = openViews()
  views.hear(2, { ...standby, state: 'connecting' })
  assert.deepEqual(only(), [['connecting', 2, startedAt]])
})
