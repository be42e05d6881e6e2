import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { isAlive, newDeviceUnderTest } from './support/device-under-test.ts'

const server = await openSharedServer({ cancelDeadlineSeconds: 90 })
const lasting = 'sleep 600 & echo $! $$ ready; wait'
const pids = /(\d+) (\d+) ready/

test('a cancel ends the whole group, and is confirmed', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('lasting', lasting)
  await device.start()
  const id = await device.trigger({ handler: 'lasting' })
  const [, ...running] = await device.untilOutput(id, pids)
  await device.cancel(id)
  const { execState, statusDetails } = await device.ended(id)
  assert.deepEqual([execState, statusDetails.signal], ['CANCELED', 'SIGTERM'])
  assert.deepEqual(running.map(Number).filter(isAlive), [])
  await device.log.until('reported')
})

test('a handler may clean up on TERM, and its output is still sent', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('tidy', "trap 'echo tidied; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
  await device.start()
  const id = await device.trigger({ handler: 'tidy' })
  await device.untilOutput(id, /ready/)
  await device.cancel(id)
  const { execState, statusDetails } = await device.ended(id)
  assert.deepEqual([execState, statusDetails.exitCode], ['CANCELED', '0'])
  assert.match((await device.output(id)).toString(), /tidied\n$/)
})

test('a forced cancel ends all processes and reports nothing; the next execution follows', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('lasting', lasting)
  device.addHandler('next', 'echo next')
  await device.start()
  const id = await device.trigger({ handler: 'lasting' })
  const [, ...running] = await device.untilOutput(id, pids)
  await device.cancel(id, true)
  assert.equal((await device.run({ handler: 'next' })).execState, 'SUCCEEDED')
  assert.deepEqual(running.map(Number).filter(isAlive), [])
  assert.deepEqual(
    device.log.of('reported').map(({ jobId }) => jobId === String(id)),
    [false],
  )
})

test('no step follows a cancel', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('lasting', lasting)
  device.addHandler('next', 'echo next')
  await device.start()
  const step = (handler: string) => ({
    action: { name: handler, type: 'runHandler', input: { handler }, ignoreStepFailure: true },
  })
  const id = await device.trigger({ version: '1.0', steps: [step('lasting')], finalStep: step('next') })
  await device.untilOutput(id, pids)
  await device.cancel(id)
  assert.equal((await device.ended(id)).execState, 'CANCELED')
  assert.doesNotMatch((await device.output(id)).toString(), /next/)
})

test('the time limit of the job ends it: the server records TIMED_OUT, and no process remains', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('lasting', lasting)
  await device.start()
  const trigger = (timeoutSeconds: number) => device.trigger({ handler: 'lasting' }, { timeoutSeconds })
  const { id, match } = await device.triggerWithLimit(trigger, pids)
  const [, ...running] = match
  assert.equal((await device.ended(id)).execState, 'TIMED_OUT')
  await device.log.untilTrue(
    () => device.log.of('canceled').length + device.log.of('not-wanted').length > 0,
    'it was not ended',
  )
  device.addHandler('next', 'echo next')
  assert.equal((await device.run({ handler: 'next' })).execState, 'SUCCEEDED')
  assert.deepEqual(running.map(Number).filter(isAlive), [])
})

test('the next attempt runs after a timeout', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('second', '[ "$JOBCAST_ATTEMPT" = 1 ] && sleep 600; echo fine')
  await device.start()
  // More than two, because on a busy machine the second attempt may also take longer than a second.
  const policies = { timeoutSeconds: 1, retry: { max: 20, backoffSeconds: 0 } }
  const { execState, attempt } = await device.run({ handler: 'second' }, policies)
  assert.equal(execState, 'SUCCEEDED')
  assert.ok(attempt >= 2, `attempt ${attempt}`)
})

test('over HTTP a cancel takes effect when the server no longer waits for the device', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('lasting', lasting)
  await device.start({ server: { by: 'http', url: server.http }, pollEveryMs: 50 })
  const id = await device.trigger({ handler: 'lasting' })
  const [, ...running] = await device.untilOutput(id, pids)
  await device.cancel(id, true)
  device.addHandler('next', 'echo next')
  assert.equal((await device.run({ handler: 'next' })).execState, 'SUCCEEDED')
  assert.deepEqual(running.map(Number).filter(isAlive), [])
})
