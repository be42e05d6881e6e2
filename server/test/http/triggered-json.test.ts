import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { triggeredJson, triggeredPieces } from '../../src/http/wire/triggered-json.ts'

const device = fc.record({
  deviceId: fc.string({ unit: 'binary' }),
  deviceName: fc.string({ unit: 'binary' }),
})
const run = fc.record({
  runId: fc.nat(),
  jobName: fc.string({ unit: 'binary' }),
  launchedAt: fc.integer({ min: 0, max: 4e12 }),
  jobVersion: fc.nat(),
  firstExecutionId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 1000 }),
  devices: fc.array(device, { minLength: 1, maxLength: 300, size: 'max' }),
})
// So that ids get one digit more on the way.
const nearPowers = run.chain((launched) =>
  fc.integer({ min: 1, max: 15 }).map((digits) => ({ ...launched, firstExecutionId: 10 ** digits - 1 })),
)

test('the answer, however it is written, is what JSON.stringify of the executions gives', () => {
  fc.assert(
    fc.property(fc.oneof(run, nearPowers), fc.boolean(), ({ devices, ...rest }, isReversed) => {
      const order = devices.map((_, index) => (isReversed ? devices.length - 1 - index : index))
      const launched = { ...rest, devices, ...(isReversed && { order }) }
      const executions = order.map((at) => ({
        jobExecutionId: launched.firstExecutionId + at,
        jobName: launched.jobName,
        deviceId: devices[at]?.deviceId,
        deviceName: devices[at]?.deviceName,
        execState: 'PENDING',
        launchedAt: new Date(launched.launchedAt).toISOString().slice(0, 19),
      }))
      assert.equal(triggeredJson(launched).toString(), JSON.stringify(executions))
      // What is kept of the devices is as good.
      assert.equal(triggeredJson(launched).toString(), JSON.stringify(executions))
    }),
    randomInputs({ test: 200, chaos: 5000 }),
  )
})

test('so is that of a run of more devices than are kept encoded, as a whole and in pieces', async () => {
  const devices = Array.from({ length: 10_001 }, (_, index) => ({ deviceId: `d"${index}`, deviceName: 'ü' }))
  const launched = { runId: 1, jobName: 'j', launchedAt: 0, jobVersion: 1, firstExecutionId: 5, devices }
  const executions: { jobExecutionId: number }[] = JSON.parse(triggeredJson(launched).toString())
  const pieces = await Array.fromAsync(triggeredPieces(launched))
  assert.ok(pieces.length > 1)
  assert.equal(Buffer.concat(pieces).toString(), triggeredJson(launched).toString())
  assert.deepEqual(
    executions,
    devices.map((each, index) => ({
      jobExecutionId: 5 + index,
      jobName: 'j',
      ...each,
      execState: 'PENDING',
      launchedAt: '1970-01-01T00:00:00',
    })),
  )
})
