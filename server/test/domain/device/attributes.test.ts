import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@jobcast/contract'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import { ownAttributes, reportAttributes, reportedOf } from '../../../src/domain/device/attributes.ts'
import type { AttributeOutcome, AttributeReport } from '../../../src/domain/device/ports/devices.ts'
import { DeviceError } from '../../../src/domain/execution/device-error.ts'

test('the time zone that an owner sets is an attribute beside the others', () => {
  assert.deepEqual(ownAttributes({ attributes: { site: 'berlin' }, timeZone: 'Europe/Berlin' }), {
    site: 'berlin',
    timeZone: 'Europe/Berlin',
  })
  assert.deepEqual(ownAttributes({ attributes: { site: 'berlin' } }), { site: 'berlin' })
  assert.deepEqual(ownAttributes({}), {})
})

const refusals: [string, Parameters<typeof ownAttributes>[0], string][] = [
  ['a time zone among the attributes', { attributes: { timeZone: 'UTC' } }, 'attributes'],
  ['a name with a space', { attributes: { 'a b': 1 } }, 'attributes'],
  ['a word of the selector language', { attributes: { online: true } }, 'attributes'],
  ['a zone that does not exist', { timeZone: 'Europe/Nowhere' }, 'timeZone'],
]
for (const [title, content, field] of refusals) {
  test(`refuses ${title} with J-500`, () => {
    assert.throws(
      () => ownAttributes(content),
      (error) => error instanceof ApiError && error.code === 'J-500' && error.details.field === field,
    )
  })
}

function depsWith(outcome: AttributeOutcome) {
  const reports: AttributeReport[] = []
  const moment = () => ({ at: 5, clock: steadyInstant(5), chance: 0, cancelDeadlineMs: 0 })
  const recordAttributes = async (report: AttributeReport) => {
    reports.push(report)
    return outcome
  }
  return { reports, deps: { recordAttributes, moment } }
}
const device = { ownerNo: 1, deviceId: 'd1' }

test('a report keeps null, which removes an attribute', async () => {
  const { reports, deps } = depsWith({ kind: 'recorded' })
  await reportAttributes(deps, device, { version: '2', site: null })
  assert.deepEqual(reports, [{ device, changes: { version: '2', site: null }, at: 5, clock: 5 }])
})

test('a report with a bad name, or of too many attributes, is not recorded', async () => {
  const { reports, deps } = depsWith({ kind: 'recorded' })
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`a${index}`, 1]))
  for (const fields of [{ 'a b': 1 }, { site: {} }, many]) {
    await assert.rejects(reportAttributes(deps, device, fields), DeviceError)
  }
  assert.deepEqual(reports, [])
})

test('what the store refuses is refused to the device', async () => {
  for (const kind of ['unknown-device', 'too-many'] as const) {
    await assert.rejects(reportAttributes(depsWith({ kind }).deps, device, { site: 'x' }), DeviceError)
  }
})

test('reported attributes may come as a shadow document or as a flat map', () => {
  assert.deepEqual(reportedOf({ state: { reported: { site: 'x' } } }), { site: 'x' })
  assert.deepEqual(reportedOf({ site: 'x', state: 'on' }), { site: 'x', state: 'on' })
  assert.throws(() => reportedOf({ state: { desired: {} } }), DeviceError)
})
