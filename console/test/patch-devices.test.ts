import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FleetDevice, JobcastEvent } from '@jobcast/client'
import { patchDevices } from '../src/screens/fleet/patch-devices.ts'

const device = (deviceId: string, jobExecutionId?: number): FleetDevice => ({
  deviceId,
  online: false,
  lastExecution: jobExecutionId === undefined ? null : { jobExecutionId, execState: 'PENDING' },
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

test('of several changes the last one counts, and of several executions the newest', () => {
  const events = [
    moved('a', 7, 'IN_PROGRESS'),
    moved('a', 7, 'FAILED'),
    moved('a', 6, 'SUCCEEDED'), // older than the one before
    moved('b', 3, 'SUCCEEDED'), // older than what it has
    { eventId: 2, type: 'device.online', timestamp: '', data: { deviceId: 'b' } } as JobcastEvent,
    moved('unknown', 9, 'FAILED'),
  ]
  assert.deepEqual(patchDevices([device('a'), device('b', 5), device('c', 1)], events), [
    { ...device('a'), lastExecution: { jobExecutionId: 7, execState: 'FAILED' } },
    { ...device('b', 5), online: true },
    device('c', 1),
  ])
})

test('what a device works on stays, though something else is launched on it', () => {
  const running = { jobExecutionId: 7, execState: 'IN_PROGRESS' as const }
  const [busy] = patchDevices([device('a', 7)], [moved('a', 7, 'IN_PROGRESS'), moved('a', 8, 'PENDING')])
  assert.deepEqual(busy?.running, running)
  assert.equal(busy?.lastExecution?.jobExecutionId, 8)
  assert.equal(patchDevices([busy as FleetDevice], [moved('a', 7, 'SUCCEEDED')])[0]?.running, null)
})

test('what concerns no device leaves the list as it is', () => {
  const devices = [device('a')]
  assert.equal(patchDevices(devices, []), devices)
})
