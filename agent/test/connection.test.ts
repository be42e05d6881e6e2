import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { isAlive, newDeviceUnderTest } from './support/device-under-test.ts'
import { TcpProxy } from './support/tcp-proxy.ts'

const megabytes = testSize('megabytes', { test: 6, chaos: 50 })
const server = await openSharedServer({ maxOutputBytes: (megabytes + 1) * 1024 * 1024 })

async function openProxy(t: TestContext): Promise<TcpProxy> {
  const proxy = await TcpProxy.open(async () => server.http)
  t.after(() => proxy.close())
  return proxy
}

const ways = {
  'MQTT over WebSocket': (proxy: TcpProxy) => ({ by: 'mqtt' as const, url: `ws://${proxy.host}/mqtt` }),
  HTTP: (proxy: TcpProxy) => ({ by: 'http' as const, url: `http://${proxy.host}` }),
}

test(`${megabytes} MB of output arrive byte for byte through three cut connections`, async (t) => {
  const device = await newDeviceUnderTest(t, server)
  const proxy = await openProxy(t)
  const size = megabytes * 1024 * 1024
  const program = join(device.folder, 'flood.cjs')
  writeFileSync(
    program,
    `const { createHash } = require('node:crypto')
const hash = createHash('sha256')
let left = ${size}
function write() {
  while (left > 0) {
    const chunk = Buffer.alloc(Math.min(100_003, left), left % 2 ? 'bin\\xff' : 'text ', 'latin1')
    left -= chunk.length
    hash.update(chunk)
    if (!process.stdout.write(chunk)) return process.stdout.once('drain', write)
  }
  require('node:fs').writeFileSync(process.env.JOBCAST_RESULT_FILE, JSON.stringify(hash.digest('hex')))
}
write()
`,
  )
  // Not behind #!: the path of Node may have a space in it, or be too long for that line.
  device.addHandler('flood', `exec "${process.execPath}" "${program}"`)
  await device.start({
    server: ways['MQTT over WebSocket'](proxy),
    maxOutputBytes: size + 1024,
  })
  let sent = 0
  const cuts = [0.2, 0.5, 0.8].map((share) => share * size)
  proxy.onUpstream = (bytes) => {
    sent += bytes
    if (sent < (cuts[0] ?? Number.POSITIVE_INFINITY)) return
    cuts.shift()
    proxy.cut()
  }
  const { id, execState, result } = await device.run({ handler: 'flood' })
  assert.equal(execState, 'SUCCEEDED')
  assert.equal(device.log.of('disconnected').length, 3)
  const output = await device.output(id)
  assert.equal(output.length, size)
  assert.equal(createHash('sha256').update(output).digest('hex'), result)
})

for (const [way, serverBy] of Object.entries(ways)) {
  test(`over ${way}: executions that ended while disconnected are reported after the reconnect`, async (t) => {
    const device = await newDeviceUnderTest(t, server)
    const proxy = await openProxy(t)
    device.addHandler(
      'work',
      `echo before; while [ ! -e "${device.folder}/go" ]; do sleep 0.05; done; echo after; exit 6`,
    )
    await device.start({ server: serverBy(proxy) })
    const id = await device.trigger({ handler: 'work' })
    await device.untilOutput(id, /before/)
    proxy.isClosed = true
    proxy.cut()
    writeFileSync(join(device.folder, 'go'), '')
    await device.log.untilTrue(() => device.log.of('no-connection').length >= 3, 'it does not try again')
    proxy.isClosed = false
    const { execState, statusDetails } = await device.ended(id)
    assert.deepEqual([execState, statusDetails.exitCode], ['FAILED', '6'])
    assert.equal((await device.output(id)).toString(), 'before\nafter\n')
    assert.equal(device.log.of('started').length, 1)
  })

  test(`over ${way}: triggered executions run at once, and a new token is read without a restart`, async (t) => {
    const device = await newDeviceUnderTest(t, server)
    device.addHandler('work', 'echo done')
    let { token } = device
    await device.start({ server: serverBy(await openProxy(t)), readToken: () => token })
    assert.equal((await device.run({ handler: 'work' })).execState, 'SUCCEEDED')
    const reply = await server.call('POST', `/job/api/devices/${device.deviceId}/credential`)
    await device.log.until('sign-in-refused')
    token = reply.json.deviceToken
    assert.equal((await device.run({ handler: 'work' })).execState, 'SUCCEEDED')
  })
}

test('a forced cancel while disconnected is noticed after the reconnect', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  const proxy = await openProxy(t)
  device.addHandler('lasting', 'echo $$ ready; exec sleep 600')
  await device.start({ server: ways['MQTT over WebSocket'](proxy) })
  const id = await device.trigger({ handler: 'lasting' })
  const [, pid] = await device.untilOutput(id, /(\d+) ready/)
  proxy.isClosed = true
  proxy.cut()
  await device.cancel(id, true)
  proxy.isClosed = false
  await device.log.until('canceled')
  device.addHandler('next', 'echo next')
  assert.equal((await device.run({ handler: 'next' })).execState, 'SUCCEEDED')
  assert.equal(isAlive(Number(pid)), false)
})

test('two agents with the same device id: an execution begun by one is not started by the other', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  const proxy = await openProxy(t)
  device.addHandler('note', `echo x >>"${device.folder}/starts"; echo $$ ready; exec sleep 600`)
  await device.start({ server: ways['MQTT over WebSocket'](proxy) })
  const id = await device.trigger({ handler: 'note' })
  const [, pid] = await device.untilOutput(id, /(\d+) ready/)
  proxy.isClosed = true
  await device.start({ stateFolder: join(device.folder, 'clone') })
  const { execState, statusDetails } = await device.ended(id)
  assert.equal(execState, 'FAILED')
  assert.match(statusDetails.reason ?? '', /the agent [0-9a-f]{12} has already started it as this device/)
  assert.equal(device.log.of('started').length, 1)
  proxy.isClosed = false
  await device.log.until('canceled')
  await waitUntil('it has ended', () => !isAlive(Number(pid)))
  assert.equal(readFileSync(join(device.folder, 'starts'), 'utf8'), 'x\n')
})
