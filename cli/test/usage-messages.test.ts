// Invalid usage that is found before the service is called: each message says what is wrong and what would be right.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dataFolder, runJobcast } from './run-jobcast.ts'

const access = { JOBCAST_URL: 'http://127.0.0.1:9', JOBCAST_API_KEY: 'jc_unused' }

const refusals: [what: string, args: string[], message: RegExp][] = [
  [
    'a device as second argument',
    ['trigger', 'restart', 'kiosk-1'],
    /^error: too many arguments for 'trigger'\. Only the job is one; name devices with --device, such as --device kiosk-1\.$/m,
  ],
  [
    'a run that is no number',
    ['runs', 'get', 'abc'],
    /^error: the <runId> 'abc' is invalid\. It must be an integer/,
  ],
  [
    'a missing fleet file',
    ['apply', '-f', '/nowhere/f.yaml'],
    /^error: cannot read \/nowhere\/f\.yaml: no such file or directory$/m,
  ],
  [
    'a missing export of the audit',
    ['audit', 'verify', '/nowhere/a', '--checkpoint', '/nowhere/c'],
    /^error: Cannot read \/nowhere\/c: no such file or directory$/m,
  ],
  [
    'a schedule on the devices with a tag',
    ['schedules', 'put', 's', '--job', 'j', '--tag', 'kiosk', '--cron', '0 3 * * *'],
    /^error: a schedule has no --tag; select its devices by --where, such as --where 'tag=kiosk'$/m,
  ],
  ['a change of nothing', ['devices', 'change', '--where', 'all'], /^error: say what to change: --add-tag, /],
  [
    'a schedule in the time zone of each device',
    ['schedules', 'put', 's', '--job', 'j', '--where', 'all', '--cron', '0 3 * * *', '--zone', 'device'],
    /A schedule has one time zone\. .*jobcast windows put/,
  ],
]

for (const [what, args, message] of refusals) {
  test(`${what} is explained`, async () => {
    const { code, stderr } = await runJobcast(args, access)
    assert.match(stderr, message)
    assert.equal(code, 2)
  })
}

test('invalid YAML is located', async (t) => {
  const file = join(dataFolder(t), 'job.yaml')
  writeFileSync(file, 'document: {handler: x\n')
  const { code, stderr } = await runJobcast(['jobs', 'put', 'j', '-f', file], access)
  assert.match(stderr, /job\.yaml is not valid YAML: .* at line 2, column 1$/m)
  assert.equal(code, 2)
})
