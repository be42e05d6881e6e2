import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { dataFolder } from './run-jobcast.ts'
import { spawnJobcast } from './spawn-jobcast.ts'

// Some machines have no curl.
const skip = spawnSync('curl', ['--version']).error ? 'there is no curl here' : false
const triggerLine = /^(curl -i .*)$/m
const listLine = /^(curl http.*)$/m

test('dev prints a curl command that works as pasted, on the first start and on the next', {
  skip,
}, async (t) => {
  const data = dataFolder(t)
  for (const expected of [3, 6]) {
    const dev = spawnJobcast(t, ['dev', '--port', '0', '--data', data])
    const [, trigger = ''] = await dev.until(triggerLine)
    const [, list = ''] = await dev.until(listLine)
    const answer = await paste(trigger)
    assert.match(answer, /^HTTP\/1\.1 201 Created/)
    assert.match(answer, /location: \/job\/api\/runs\/\d+/)
    assert.equal(JSON.parse(await paste(list)).items.length, expected)
    assert.equal(await dev.end('SIGINT'), 0)
  }
})

test('dev prints a working command also on a data folder created by serve', { skip }, async (t) => {
  const data = dataFolder(t)
  const serve = spawnJobcast(t, ['serve', '--port', '0', '--data', data, '--json-log'])
  await serve.until(/"msg":"ready"/)
  await serve.end('SIGTERM')
  const dev = spawnJobcast(t, ['dev', '--port', '0', '--data', data])
  const [, trigger = ''] = await dev.until(triggerLine)
  assert.match(await paste(trigger), /^HTTP\/1\.1 201 Created/)
})

async function paste(line: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent --show-error`])
  return stdout
}
