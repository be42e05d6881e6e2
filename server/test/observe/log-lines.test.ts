import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { within } from '@jobcast/testkit/within'

const module = new URL('../../src/observe/log-lines.ts', import.meta.url).href

// The first line is larger than any pipe, so its write lasts until somebody reads. The last one is told while that lasts, and
// nothing follows it. Longer than the log waits before it writes.
const script = `
import { openLog } from ${JSON.stringify(module)}
const { tell } = openLog({ level: 'info', json: true, requestLevel: 'info' })
const pause = () => new Promise((resolve) => setTimeout(resolve, 400))
tell({ kind: 'plaintext', host: 'x'.repeat(2 ** 21) })
await pause()
tell({ kind: 'plaintext', host: 'last' })
await pause()
process.stderr.write('told')
setInterval(() => {}, 1000)
`

test('a line that is logged while an earlier one waits for its reader is written as soon as that has read', async (t) => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  await within(60_000, () => 'nothing was told', once(child.stderr, 'data'))
  const hosts: string[] = []
  const reader = createInterface({ input: child.stdout })
  const both = new Promise<void>((resolve) => {
    reader.on('line', (line) => {
      hosts.push(JSON.parse(line).host)
      if (hosts.length === 2) resolve()
    })
  })
  await within(20_000, () => `${hosts.length} lines arrived`, both)
  assert.equal(hosts[1], 'last')
})
