// --output json, yaml and jsonpath=….

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { parse } from 'yaml'
import { openTerminal } from './open-terminal.ts'
import { runJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }
const jobcast = (...args: string[]) => runJobcast(args, access)

test('one field of a response is printed as it is, for a variable of a shell', async () => {
  await server.putJobAndDevices('formats', ['format-1', 'format-2'])
  const triggered = await jobcast(
    'trigger',
    'formats',
    '-d',
    'format-1',
    '-d',
    'format-2',
    '--output',
    'jsonpath={.runId}',
  )
  assert.equal(triggered.code, 0, triggered.stderr)
  assert.match(triggered.stdout, /^\d+\n$/)
  const runId = triggered.stdout.trim()
  const devices = await jobcast('executions', '--run', runId, '-o', 'jsonpath={[*].deviceId}')
  assert.deepEqual(devices.stdout.trim().split('\n').sort(), ['format-1', 'format-2'])
  const counts = await jobcast('runs', 'get', runId, '--output=jsonpath={.counts}')
  assert.equal(JSON.parse(counts.stdout).PENDING, 2)
  const answer = await jobcast('api', 'GET', `/job/api/runs/${runId}`, '-o', 'jsonpath={.jobName}')
  assert.equal(answer.stdout, 'formats\n')
})

test('YAML says the same as JSON, also to readers of YAML 1.1', async () => {
  const document = { no: 'no', number: '0012', lines: 'a\nb\n', list: [], long: 'word '.repeat(60) }
  await server.call('PUT', '/job/api/jobs/yaml-words', { body: { document } })
  const [json, yaml] = [
    await jobcast('jobs', 'get', 'yaml-words', '--output', 'json'),
    await jobcast('jobs', 'get', 'yaml-words', '--output', 'yaml'),
  ]
  assert.equal(yaml.code, 0, yaml.stderr)
  assert.deepEqual(parse(yaml.stdout), JSON.parse(json.stdout))
  assert.deepEqual(parse(yaml.stdout, { version: '1.1' }).document, document)
  const short = await jobcast('jobs', 'get', 'yaml-words', '--json')
  assert.equal(short.stdout, json.stdout)
})

test('a path that matches nothing prints nothing on standard output, and says so', async () => {
  const { code, stdout, stderr } = await jobcast('jobs', 'ls', '-o', 'jsonpath={[*].jobNumber}')
  assert.deepEqual([code, stdout], [0, ''])
  assert.match(stderr, /^\{\[\*\]\.jobNumber\} matches nothing in the output\.$/m)
})

test('an output that is not known is refused before anything is done', async () => {
  await server.putJobAndDevices('untouched', ['format-3'])
  // biome-ignore format: a line each
  const refused: [args: string[], says: RegExp][] = [
    [['--output', 'xml'], /It must be json, yaml or jsonpath=/],
    [['--output', 'jsonpath='], /It must be json, yaml or jsonpath=/],
    [['--output', 'jsonpath=runId'], /It is not clear at "runId"/],
    [['--output', 'yaml', '--json'], /--json and --output cannot be used together/],
  ]
  for (const [args, says] of refused) {
    const { code, stderr } = await jobcast('trigger', 'untouched', '-d', 'format-3', ...args)
    assert.equal(code, 2, args.join(' '))
    assert.match(stderr, says)
  }
  const { json } = await server.call('GET', '/job/api/runs?jobName=untouched')
  assert.deepEqual(json.items, [])
  const metrics = await jobcast('api', 'GET', '/metrics', '-o', 'yaml')
  assert.equal(metrics.code, 2)
  assert.match(metrics.stderr, /--output needs a JSON response/)
})

test('what a path matches cannot control a terminal', async (t) => {
  await server.call('PUT', '/job/api/jobs/colored', { body: { document: { text: '\u001b[2Jgone' } } })
  const args = ['jobs', 'get', 'colored', '-o', 'jsonpath={.document.text}']
  const terminal = openTerminal(t, args, access)
  assert.equal(await terminal.ended, 0)
  assert.equal(terminal.screen.raw.includes('\u001b[2J'), false)
  assert.equal((await jobcast(...args)).stdout, '\u001b[2Jgone\n')
})
