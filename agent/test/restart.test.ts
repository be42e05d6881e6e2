// Agents that are killed, stopped and started again in the middle of an execution.

import assert from 'node:assert/strict'
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { type DeviceUnderTest, isAlive, newDeviceUnderTest } from './support/device-under-test.ts'
import { TcpProxy } from './support/tcp-proxy.ts'

const server = await openSharedServer()
const readyWithPids = /(\d+) (\d+) ready/

/** Records its start, then waits for a signal to continue. */
function addNotingHandler(device: DeviceUnderTest, more = ''): void {
  device.addHandler(
    'note',
    `echo "$JOBCAST_START \${JOBCAST_RESUMED:-0}" >>"${device.folder}/starts"
sleep 600 & echo $! $$ ready
while [ ! -e "${device.folder}/go" ]; do sleep 0.05; done
# A shell may say how its child ended, in words of its own.
{ kill $!; wait $!; } 2>/dev/null
echo went on; ${more}`,
  )
}

const startsOf = (device: DeviceUnderTest) => readFileSync(join(device.folder, 'starts'), 'utf8')

test('a killed agent ends remaining processes of its handler, reports the execution, and starts nothing twice', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  addNotingHandler(device)
  const first = device.spawn()
  const id = await device.trigger({ handler: 'note' })
  const [, ...running] = await device.untilOutput(id, readyWithPids)
  await first.end('SIGKILL')
  assert.deepEqual(running.map(Number).filter(isAlive), running.map(Number))

  await device.start()
  const { execState, statusDetails } = await device.ended(id)
  assert.equal(execState, 'FAILED')
  assert.equal(statusDetails.reason, 'interrupted: the agent stopped while it ran')
  assert.equal(device.log.of('leftovers-ended').length, 1)
  assert.deepEqual(running.map(Number).filter(isAlive), [])
  assert.equal(startsOf(device), '1 0\n')
})

test('an execution whose document allows it is run again, and the handler is informed', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  addNotingHandler(device)
  const first = device.spawn()
  const id = await device.trigger({ handler: 'note', onInterrupt: 'rerun' })
  const [, ...running] = await device.untilOutput(id, readyWithPids)
  await first.end('SIGKILL')
  await device.start()
  await device.log.until('started')
  assert.deepEqual(running.map(Number).filter(isAlive), [])
  writeFileSync(join(device.folder, 'go'), '')
  const { execState, statusDetails } = await device.ended(id)
  assert.deepEqual([execState, statusDetails.starts], ['SUCCEEDED', '2'])
  assert.equal(startsOf(device), '1 0\n2 0\n')
  assert.match((await device.output(id)).toString(), /^\d+ \d+ ready\n\d+ \d+ ready\nwent on\n$/)
})

test('an orderly stop ends the handler and reports the execution before the agent exits', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  addNotingHandler(device)
  const agent = await device.start()
  const id = await device.trigger({ handler: 'note' })
  const [, ...running] = await device.untilOutput(id, readyWithPids)
  await Promise.all([agent.stop(), agent.stop()])
  assert.deepEqual(running.map(Number).filter(isAlive), [])
  const { execState, statusDetails } = await device.ended(id)
  assert.equal(execState, 'FAILED')
  assert.equal(statusDetails.reason, 'interrupted: the agent was stopped while it ran')
})

test('an orderly stop leaves executions that are run again to the next start', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  addNotingHandler(device)
  const agent = await device.start()
  const id = await device.trigger({ handler: 'note', onInterrupt: 'rerun' })
  await device.untilOutput(id, readyWithPids)
  await agent.stop()
  writeFileSync(join(device.folder, 'go'), '')
  await device.start()
  assert.equal((await device.ended(id)).execState, 'SUCCEEDED')
  assert.equal(startsOf(device), '1 0\n2 0\n')
})

test('a handler that requests a reboot continues after it, with its folder unchanged', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler(
    'update',
    `echo "$JOBCAST_STEP $JOBCAST_START \${JOBCAST_RESUMED:-0} $(cat kept 2>/dev/null)"
[ -n "$JOBCAST_RESUMED" ] && exit 0
echo half >kept; exit 194`,
  )
  device.addHandler('say', 'echo "$1"')
  const step = (handler: string, args: string[] = []) => ({
    action: { name: handler, type: 'runHandler', input: { handler, args } },
  })
  const document = {
    version: '1.0',
    steps: [step('say', ['first']), step('update')],
    finalStep: step('say', ['last']),
  }
  const agent = await device.start({ bootId: 'one' })
  const id = await device.trigger(document)
  const details = async () => (await server.call('GET', `/job/api/executions/${id}`)).json.statusDetails
  const waitForReboot = () =>
    waitUntil('it waits for a reboot', async () => (await details()).waitsFor === 'reboot')
  await waitForReboot()
  await agent.stop()

  // The agent was restarted, the machine was not.
  const second = await device.start({ bootId: 'one' })
  await device.log.until('connected', 2)
  await waitForReboot()
  await second.stop()
  assert.equal(device.log.of('started').length, 2)

  await device.start({ bootId: 'two' })
  const { execState, statusDetails } = await device.ended(id)
  assert.deepEqual([execState, statusDetails.starts], ['SUCCEEDED', '2'])
  assert.equal((await device.output(id)).toString(), 'first\nupdate 1 0 \nupdate 2 1 half\nlast\n')
})

test('an execution that waits for a reboot can be canceled, and reboots are limited', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('reboot', 'exit 194')
  let agent = await device.start({ bootId: 'boot 0' })
  const canceled = await device.trigger({ handler: 'reboot' })
  await device.log.until('rebooting')
  await device.cancel(canceled)
  assert.equal((await device.ended(canceled)).execState, 'CANCELED')

  const id = await device.trigger({ handler: 'reboot' })
  for (let boot = 1; boot < 10; boot++) {
    await device.log.until('rebooting', boot + 1)
    await agent.stop()
    agent = await device.start({ bootId: `boot ${boot}` })
  }
  const { execState, statusDetails } = await device.ended(id)
  assert.deepEqual([execState, statusDetails.exitCode, statusDetails.starts], ['FAILED', '194', '10'])
})

test('an outcome that could not be reported is reported after the next start', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  const proxy = await TcpProxy.open(async () => server.http)
  t.after(() => proxy.close())
  device.addHandler('work', `while [ ! -e "${device.folder}/go" ]; do sleep 0.05; done; echo output; exit 9`)
  const id = await device.trigger({ handler: 'work' })
  const first = device.spawn({ server: { by: 'mqtt', url: `ws://${proxy.host}/mqtt` } })
  await first.log.until('started')
  proxy.isClosed = true
  proxy.cut()
  writeFileSync(join(device.folder, 'go'), '')
  await first.log.until('ended')
  await first.end('SIGKILL')
  await device.start()
  const { execState, statusDetails } = await device.ended(id)
  assert.deepEqual([execState, statusDetails.exitCode], ['FAILED', '9'])
  assert.equal((await device.output(id)).toString(), 'output\n')
})

test('an agent that has lost its state does not start executions that it had begun', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  addNotingHandler(device)
  const first = device.spawn()
  const id = await device.trigger({ handler: 'note' })
  const [, ...running] = await device.untilOutput(id, readyWithPids)
  await first.end('SIGKILL')
  rmSync(join(device.folder, 'state'), { recursive: true })
  await device.start()
  const { execState, statusDetails } = await device.ended(id)
  assert.equal(execState, 'FAILED')
  assert.match(
    statusDetails.reason ?? '',
    /has already started it as this device, and it is not started twice/,
  )
  assert.equal(startsOf(device), '1 0\n')
  for (const pid of running) process.kill(Number(pid), 'SIGKILL')
})

test('a second agent on the same state folder is refused with a sentence; ended executions leave no files', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('work', 'echo x >file; echo done')
  const agent = await device.start()
  await assert.rejects(device.start(), { name: 'StartRefused', message: /Another agent is running/ })
  await device.run({ handler: 'work' })
  await agent.stop()
  assert.deepEqual(readdirSync(join(device.folder, 'state/executions')), [])
  await (await device.start()).stop()
})

test('a folder of handlers that everyone can write to is refused', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  chmodSync(device.handlers, 0o777)
  await assert.rejects(device.start(), { name: 'StartRefused', message: /Everyone can write/ })
  await assert.rejects(device.start({ handlersFolder: '/no/such' }), /does not exist/)
})

test('while the journal cannot be written nothing is started', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  addNotingHandler(device)
  await device.start()
  const file = await openFile('/dev/null')
  const disk = t.mock.method(Object.getPrototypeOf(file), 'datasync', async () => {
    throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
  })
  await file.close()
  const { execState, statusDetails } = await device.run({ handler: 'note' })
  assert.equal(execState, 'FAILED')
  assert.match(statusDetails.reason ?? '', /^not started, because the agent cannot write to its disk: EIO/)
  assert.throws(() => startsOf(device), { code: 'ENOENT' })
  disk.mock.restore()
  writeFileSync(join(device.folder, 'go'), '')
  assert.equal((await device.run({ handler: 'note' })).execState, 'SUCCEEDED')
})
