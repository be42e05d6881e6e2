// Which parts of a device's output reach a terminal.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { TerminalFilter } from '../src/output/terminal-filter.ts'
import { openTerminal } from './open-terminal.ts'
import { runJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }

const cases: [why: string, written: string, shown: string][] = [
  ['text, tabs and newlines are kept', 'grün\t日本 👩‍👧\n\n', 'grün\t日本 👩‍👧\n\n'],
  ['colors are kept', '\u001b[1;38:5:196mred\u001b[m', '\u001b[1;38:5:196mred\u001b[m'],
  ['cursor movement, erasing and modes are removed', 'a\u001b[2J\u001b[1;1Hb\u001b[?25lc\u001b[3 qd', 'abcd'],
  ['a private sequence that ends like a color is removed', 'a\u001b[>4;2mb\u001b[?1mc', 'abc'],
  ['a window title is removed with its text', 'a\u001b]0;owned\u0007b\u001b]8;;http://x\u001b\\c', 'abc'],
  ['a clipboard write is removed', '\u001b]52;c;cm0gLXJm\u0007x', 'x'],
  ['DCS, APC and PM strings are removed', 'a\u001bPq#0\u001b\\b\u001b_x\u001b\\c\u001b^y\u001b\\d', 'abcd'],
  ['C1 controls start sequences as well', 'a\u009b2Jb\u009d0;t\u009cc\u0085d', 'abcd'],
  ['other escape sequences are removed', 'a\u001bcb\u001b(Bc\u001b7d\u001b\u001b[2Je', 'abcde'],
  ['an unfinished sequence hides no more than its line', 'a\u001b]0;never ends\nb', 'a\nb'],
  ['a carriage return starts a new line', '10%\r20%\r\ndone\n', '10%\n20%\ndone\n'],
  ['bell, backspace, delete and NUL are removed', 'a\u0007b\u0008c\u007fd\u0000e', 'abcde'],
  ['direction overrides are removed', 'a\u202egpj.exe\u2066b', 'agpj.exeb'],
  ['overlong parameters are removed', `a\u001b[${'1;'.repeat(5000)}mb`, 'ab'],
]

for (const [why, written, shown] of cases) {
  test(`${why}, however it is split`, () => {
    const bytes = new TextEncoder().encode(written)
    for (const size of [1, 3, bytes.length]) {
      const filter = new TerminalFilter()
      let result = ''
      for (let at = 0; at < bytes.length; at += size) result += filter.push(bytes.subarray(at, at + size))
      assert.equal(result + filter.end(), shown)
    }
  })
}

test('filters output at a terminal and resets colors at its end; --raw and a pipe get it unchanged', async (t) => {
  const written = '\u001b[31mred\u001b[2K\u0007 text'
  await server.putJobAndDevices('hostile', [])
  const device = await newDevice(server, 'hostile-1')
  await server.trigger('hostile', ['hostile-1'])
  const { jobId } = (await device.startNext()).json.execution
  await device.output(jobId, 0, written)
  await device.update(jobId, 'SUCCEEDED')
  const args = ['executions', 'output', String(jobId)]
  const shownBy = async (...more: string[]) => {
    const terminal = openTerminal(t, [...args, ...more], access)
    assert.equal(await terminal.ended, 0)
    return terminal.screen.raw
  }
  assert.equal(await shownBy(), '\u001b[31mred text\u001b[0m')
  assert.equal(await shownBy('--raw'), written)
  assert.equal((await runJobcast(args, access)).stdout, written)
})

test('filters followed output, of one device and of several', async (t) => {
  await server.putJobAndDevices('followed', [])
  const devices = await Promise.all(['followed-1', 'followed-2'].map((id) => newDevice(server, id)))
  const [one] = devices
  for (const followed of [devices, one ? [one] : []]) {
    const flags = followed.flatMap(({ deviceId }) => ['-d', deviceId])
    const terminal = openTerminal(t, ['trigger', 'followed', ...flags, '--follow'], access)
    await terminal.until(/^Run \d+/)
    for (const device of followed) {
      const { jobId } = (await device.startNext()).json.execution
      await device.output(jobId, 0, `\u001b]0;title\u0007\u001b[31m${device.deviceId} writes\n`)
      await device.update(jobId, 'SUCCEEDED')
    }
    assert.equal(await terminal.ended, 0)
    for (const { deviceId } of followed)
      assert.ok(terminal.screen.raw.includes(`\u001b[31m${deviceId} writes`))
    assert.ok(terminal.screen.raw.includes('\u001b[0m'))
    assert.ok(!terminal.screen.raw.includes('title'))
  }
})
