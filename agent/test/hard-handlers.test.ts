// Handlers that behave badly. Each ends as docs/agent.md says, and leaves no process behind.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { isAlive, newDeviceUnderTest } from './support/device-under-test.ts'

const maxOutputBytes = 1_200_000
/** For handlers that do not end by themselves. */
const shortGraceMs = 500
const server = await openSharedServer({ maxOutputBytes })

test('a handler that never reads its input works with documents of any length', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('deaf', 'echo done')
  device.addHandler('shut', 'exec <&-; echo shut')
  await device.start()
  const padding = 'x'.repeat(60_000)
  for (const handler of ['deaf', 'shut']) {
    assert.equal((await device.run({ handler, padding })).execState, 'SUCCEEDED')
  }
})

test('a handler that closes its output early is waited for', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('mute', `echo early; exec >&- 2>&-; echo more >"${device.folder}/more"; exit 4`)
  await device.start()
  const { id, execState, statusDetails } = await device.run({ handler: 'mute' })
  assert.deepEqual([execState, statusDetails.exitCode], ['FAILED', '4'])
  assert.equal((await device.output(id)).toString(), 'early\n')
  assert.equal(readFileSync(join(device.folder, 'more'), 'utf8'), 'more\n')
})

test('bytes that are not text arrive unchanged', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7 + (index >> 8)) & 0xff))
  writeFileSync(join(device.folder, 'bytes'), bytes)
  device.addHandler('binary', `cat "${device.folder}/bytes"`)
  await device.start()
  const { id } = await device.run({ handler: 'binary' })
  assert.deepEqual(await device.output(id), bytes)
})

test('stdout and stderr arrive in the order in which they were written, also below a long path', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  const lines = Array.from({ length: 400 }, (_, index) => `echo out ${index}; echo err ${index} >&2`)
  device.addHandler('alternating', lines.join('\n'))
  const expected = lines.map((_, index) => `out ${index}\nerr ${index}\n`).join('')
  for (const name of ['state', 'long'.repeat(40)]) {
    const agent = await device.start({ stateFolder: join(device.folder, name) })
    const { id, execState } = await device.run({ handler: 'alternating' })
    assert.equal(execState, 'SUCCEEDED')
    assert.equal((await device.output(id)).toString(), expected)
    await agent.stop()
  }
  assert.deepEqual(device.log.of('disk-trouble'), [])
})

test('a line of a megabyte arrives whole, and progress after it is seen', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('long', "head -c 1000000 /dev/zero | tr '\\0' 'é'; printf '\\n::progress 77'")
  await device.start()
  const { id, statusDetails } = await device.run({ handler: 'long' })
  const output = await device.output(id)
  assert.ok(output.length > 1_000_000)
  assert.equal(output.lastIndexOf('\n'), output.length - '::progress 77'.length - 1)
  assert.equal(statusDetails.progress, '77')
})

test('output beyond the limit is truncated, the server is informed, and the handler continues', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('chatty', 'head -c 5000000 /dev/zero; echo done >&2; exit 5')
  await device.start({ maxOutputBytes })
  const { id, statusDetails, outputCut } = await device.run({ handler: 'chatty' })
  assert.deepEqual([statusDetails.exitCode, outputCut], ['5', true])
  const output = await device.output(id)
  assert.ok(output.subarray(0, maxOutputBytes).every((byte) => byte === 0))
  assert.match(output.subarray(maxOutputBytes).toString(), /output cut after 1200000 bytes/)
})

test('an agent that stores less output than the server reports how much it stored', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('chatty', 'head -c 500000 /dev/zero')
  await device.start({ maxOutputBytes: 100_000 })
  const { id, statusDetails, outputCut } = await device.run({ handler: 'chatty' })
  assert.deepEqual([statusDetails.outputCut, outputCut], ['100001', false])
  assert.equal((await device.output(id)).length, 100_001)
})

test('a handler that ignores TERM is killed after the grace period', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('stubborn', "trap '' TERM; echo $$ ready; while :; do sleep 1; done")
  await device.start({ graceMs: shortGraceMs })
  const trigger = (timeoutSeconds: number) => device.trigger({ handler: 'stubborn', timeoutSeconds })
  const { id, match } = await device.triggerWithLimit(trigger, /(\d+) ready/)
  const { execState, statusDetails } = await device.ended(id)
  assert.deepEqual([execState, statusDetails.signal], ['FAILED', 'SIGKILL'])
  assert.equal(statusDetails.reason, 'took longer than its time limit')
  assert.equal(isAlive(Number(match[1])), false)
})

test('children that outlive their handler are gone after a time limit', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler(
    'parent',
    '(trap "" TERM; sleep 600) & echo $!; sleep 600 & echo $!; sleep 600 & echo $! ready; wait',
  )
  await device.start({ graceMs: shortGraceMs })
  const trigger = (timeoutSeconds: number) => device.trigger({ handler: 'parent', timeoutSeconds })
  const { id, match } = await device.triggerWithLimit(trigger, /(\d+\n){2}\d+ ready/)
  const { execState } = await device.ended(id)
  assert.equal(execState, 'FAILED')
  assert.deepEqual(match[0].match(/\d+/g)?.map(Number).filter(isAlive), [])
})

test('remaining child processes of a handler are ended after it, and its own exit code is reported', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('leaver', 'sleep 600 & echo $!; (sleep 0.2; echo late) & exit 0')
  await device.start()
  let output = ''
  // What finishes within a second is let finish; on a busy machine 0.2 s may take longer than that, but not always.
  for (let tries = 0; tries < 10 && !/late\n$/.test(output); tries++) {
    const { id, execState } = await device.run({ handler: 'leaver' })
    assert.equal(execState, 'SUCCEEDED')
    output = (await device.output(id)).toString()
    assert.equal(isAlive(Number.parseInt(output, 10)), false)
  }
  assert.match(output, /late\n$/)
})

test('a process that leaves the group continues, and does not delay the end by an open pipe', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  // It leaves the group before the handler ends.
  device.addHandler(
    'daemon',
    "setsid sh -c 'echo $$ is my own; : >left; exec sleep 600' & while [ ! -e left ]; do sleep 0.05; done",
  )
  await device.start()
  const { id, execState } = await device.run({ handler: 'daemon' })
  assert.equal(execState, 'SUCCEEDED')
  const pid = Number.parseInt((await device.output(id)).toString(), 10)
  assert.equal(isAlive(pid), true)
  process.kill(pid, 'SIGKILL')
})

test('a file that is not a program is refused, with any error of the system', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('windows', '#!/bin/sh\r\necho hello\r\n')
  device.addHandler('nowhere', '#!/no/such/interpreter\n')
  writeFileSync(join(device.handlers, 'plain'), 'echo', { mode: 0o644 })
  await device.start()
  const reasons: Record<string, RegExp> = {
    windows: /ends in CR LF/,
    nowhere: /"nowhere" cannot be started: it, or the interpreter/,
    plain: /is not executable/,
    missing: /there is no handler/,
  }
  for (const [handler, reason] of Object.entries(reasons)) {
    const { execState, statusDetails } = await device.run({ handler })
    assert.equal(execState, 'REJECTED', handler)
    assert.match(statusDetails.reason ?? '', reason)
  }
})
