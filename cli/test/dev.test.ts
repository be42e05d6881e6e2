import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { openServer } from '@jobcast/testkit/open-server'
import { ctrlC, openPseudoTerminal } from './open-terminal.ts'
import { cleanEnv, dataFolder, startJobcast } from './run-jobcast.ts'
import { spawnJobcast } from './spawn-jobcast.ts'

// Some machines have no curl.
const skip = spawnSync('curl', ['--version']).error ? 'there is no curl here' : false
const triggerLine = /^(curl -i .*)$/m
const listLine = /^(curl http.*)$/m

test('dev prints a curl command that works as pasted, on the first start and on the next', {
  skip,
}, async (t) => {
  const data = dataFolder(t)
  const flags = ['dev', '--port', '0', '--data', data]
  for (const expected of [3, 6]) {
    const dev = expected === 3 ? spawnJobcast(t, flags) : startJobcast(t, [...flags, '--log-level', 'error'])
    const [, trigger = ''] = await dev.until(triggerLine)
    const [, list = ''] = await dev.until(listLine)
    const answer = await paste(trigger)
    assert.match(answer, /^HTTP\/1\.1 201 Created/)
    assert.match(answer, /location: \/job\/api\/runs\/\d+/)
    assert.equal(JSON.parse(await paste(list)).items.length, expected)
    assert.equal(await dev.end('SIGINT'), 0)
  }
})

chaosTest('dev prints a working command also on a data folder created by serve', { skip }, async (t) => {
  const data = dataFolder(t)
  const { server } = await openServer(t, { dataFolder: data })
  await server.stop()
  const dev = startJobcast(t, ['dev', '--port', '0', '--data', data, '--log-level', 'error'])
  const [, trigger = ''] = await dev.until(triggerLine)
  assert.match(await paste(trigger), /^HTTP\/1\.1 201 Created/)
})

chaosTest('at a terminal dev logs only the requests that fail', async (t) => {
  const terminal = openPseudoTerminal(t, ['dev', '--port', '0', '--no-sim', '--data', dataFolder(t)])
  await terminal.until(/Ctrl-C to stop/)
  const [, http] = /API +(http:\S+)\/docs/.exec(terminal.screen.raw) ?? []
  assert.equal((await fetch(`${http}/livez`)).status, 200)
  assert.equal((await fetch(`${http}/job/api/jobs`)).status, 403)
  await terminal.until(/request any|request GET \S+: 403/)
  assert.doesNotMatch(terminal.screen.raw, /: 200/)
  terminal.press(ctrlC)
  assert.equal(await terminal.ended, 0)
})

async function paste(line: string): Promise<string> {
  // Without the proxies of this machine.
  const env = cleanEnv()
  const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent --show-error`], { env })
  return stdout
}
