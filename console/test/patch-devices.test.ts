import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FleetDevice, JobcastEvent } from '@jobcast/client'
import { toneOf } from '../src/screens/fleet/cell-tone.ts'
import { patchDevices } from '../src/screens/fleet/patch-devices.ts'

const device = (deviceId: string, jobExecutionId?: number): FleetDevice => ({
  deviceId,
  online: false,
  lastExecution: jobExecutionId === undefined ? null : { jobExecutionId, execState: 'PENDING' },
  lastEnded: null,
  running: null,
})

function moved(deviceId: string, jobExecutionId: number, execState: string): JobcastEvent {
  const type = `execution.${execState.toLowerCase()}`
  return {
    eventId: 1,
    type,
    timestamp: '',
    data: { deviceId, jobExecutionId, execState },
  } as unknown as JobcastEvent
}

test('the last of several changes applies, and the newest of several executions', () => {
  const events = [
    moved('a', 7, 'IN_PROGRESS'),
    moved('a', 7, 'FAILED'),
    moved('a', 6, 'SUCCEEDED'), // older than the one before
    moved('b', 3, 'SUCCEEDED'), // older than what it has
    { eventId: 2, type: 'device.online', timestamp: '', data: { deviceId: 'b' } } as JobcastEvent,
    moved('unknown', 9, 'FAILED'),
  ]
  assert.deepEqual(patchDevices([device('a'), device('b', 5), device('c', 1)], events), [
    {
      ...device('a'),
      lastExecution: { jobExecutionId: 7, execState: 'FAILED' },
      lastEnded: { jobExecutionId: 7, execState: 'FAILED' },
    },
    { ...device('b', 5), online: true, lastEnded: { jobExecutionId: 3, execState: 'SUCCEEDED' } },
    device('c', 1),
  ])
})

test('a running execution remains shown when another one is launched', () => {
  const running = { jobExecutionId: 7, execState: 'IN_PROGRESS' as const }
  const [busy] = patchDevices([device('a', 7)], [moved('a', 7, 'IN_PROGRESS'), moved('a', 8, 'PENDING')])
  assert.deepEqual(busy?.running, running)
  assert.equal(busy?.lastExecution?.jobExecutionId, 8)
  assert.equal(patchDevices([busy as FleetDevice], [moved('a', 7, 'SUCCEEDED')])[0]?.running, null)
})

test('events that concern no device do not change the list', () => {
  const devices = [device('a')]
  assert.equal(patchDevices(devices, []), devices)
})

test('waiting or held executions do not hide a failure', () => {
  const [failed] = patchDevices([device('a', 7)], [moved('a', 7, 'FAILED')])
  const [waits] = patchDevices([failed as FleetDevice], [moved('a', 8, 'PENDING')])
  assert.equal(waits?.lastExecution?.execState, 'PENDING')
  const tones = (['IN_PROGRESS', 'SUCCEEDED'] as const).map((state) =>
    toneOf(patchDevices([waits as FleetDevice], [moved('a', 8, state)])[0] as FleetDevice),
  )
  assert.deepEqual([toneOf(waits as FleetDevice), ...tones], ['bad', 'running', 'good'])
  assert.equal(toneOf(device('a', 7)), 'waiting')
})
