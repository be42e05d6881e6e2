// A secret parameter reaches its device and nobody else: everything else that leaves the service is searched for it.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { type SpawnedServer, startProgram } from '@jobcast/testkit/spawn-server'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { dataFolder, runJobcast } from './run-jobcast.ts'

const secret = 'Hunter2-äß-of-the-fleet'
/** As it would stand in a text, in a URL, in base64 and in a file of the database. */
const traces = ['Hunter2', encodeURIComponent(secret), Buffer.from(secret).toString('base64'), 'of-the-fleet']

function assertHasNone(place: string, content: string | Buffer): void {
  for (const trace of traces) assert.ok(!content.includes(trace), `${place} holds the secret`)
}

async function serve(t: TestContext, data: string): Promise<SpawnedServer> {
  const program = startProgram(data, { flags: ['--log-level', 'trace', '--webhook-allow', '127.0.0.0/8'] })
  t.after(() => program.end('SIGKILL'))
  return program.ready
}

const parameters = {
  type: 'object',
  properties: { password: { type: 'string', writeOnly: true, maxLength: 40 }, n: { type: 'integer' } },
  required: ['password'],
}
const document = { login: 'admin:${params.password}', n: '${params.n:-0}' }

/** What people and programs are answered, whatever they ask. */
async function answersOf(server: SpawnedServer, runId: number, id: number): Promise<Map<string, string>> {
  const problem = { accept: 'application/problem+json' }
  const body = { jobName: 'login', targets: { deviceIds: ['d1'] }, parameters: { password: secret } }
  const calls: [string, string, object?][] = [
    ...[
      'runs',
      `runs/${runId}`,
      `runs/${runId}/document`,
      `executions/${id}`,
      'executions',
      'jobs/login',
    ].map((path): [string, string] => ['GET', path]),
    ...[
      `executions/${id}/document`,
      `executions/${id}/history`,
      'jobs/login/versions',
      'webhooks/w/deliveries',
    ].map((path): [string, string] => ['GET', path]),
    ['POST', 'runs?dryRun=true', body],
    ['POST', 'runs', { ...body, parameters: { password: secret, n: 'x' } }],
    ['POST', 'runs', { ...body, parameters: { password: secret.repeat(3) } }],
    ['POST', 'runs', { ...body, parameters: { password: secret, other: 1 } }],
    ['POST', 'runs', { ...body, parameters: { [secret]: 1 } }],
    ['POST', `runs/${runId}/retry`],
    // To the version that declares it without writeOnly.
    ['POST', `runs/${runId}/rollback`],
    ['GET', 'runs'],
    ['GET', 'executions'],
  ]
  const answers = new Map<string, string>()
  for (const [index, [method, path, sent]] of calls.entries()) {
    const options = { headers: problem, ...(sent && { body: sent }) }
    const reply = await server.call(method, `/job/api/${path}`, options)
    // The name of an unknown field is said; it is not the value of a secret.
    if (!JSON.stringify(sent ?? {}).includes(`{"${secret}"`))
      answers.set(`${index} ${method} ${path}`, reply.text)
  }
  return answers
}

/** The stream up to the end of the run. */
async function eventsOf({ http, adminKey }: SpawnedServer): Promise<string> {
  const stream = await fetch(`${http}/job/api/events?after=0`, { headers: { 'x-api-key': adminKey } })
  let text = ''
  for await (const chunk of stream.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (text.includes('run.finished')) break
  }
  return text
}

test('a secret reaches its device and is in no answer, event, log, webhook, export or file', async (t) => {
  const data = join(dataFolder(t), 'data')
  const server = await serve(t, data)
  const receiver = await WebhookReceiver.open(t)
  await server.call('PUT', '/job/api/webhooks/w', { body: { url: receiver.url } })
  const { writeOnly: _, ...password } = parameters.properties.password
  const readable = { ...parameters, properties: { ...parameters.properties, password } }
  await server.call('PUT', '/job/api/jobs/login', { body: { document, parameters: readable } })
  await server.call('PUT', '/job/api/jobs/login', { body: { document, parameters } })
  const device = await newDevice(server, 'd1')
  const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }
  const triggering = ['trigger', 'login', '-d', 'd1', '--params-file', '-', '--param', 'n=7', '--json']
  const triggered = await runJobcast(triggering, access, `password: ${secret}\n`)
  assert.equal(triggered.code, 0, triggered.stderr)
  assertHasNone('the command', triggered.stdout + triggered.stderr)
  const { runId, parameters: shown } = JSON.parse(triggered.stdout)
  assert.deepEqual(shown, { password: '********', n: 7 })

  const { execution } = (await device.startNext()).json
  assert.deepEqual(JSON.parse(execution.jobDocument), { login: `admin:${secret}`, n: 7 })
  assert.equal(execution.parameters.password, secret)
  await device.update(execution.jobId, 'FAILED')
  for (const [place, text] of await answersOf(server, runId, execution.jobId)) assertHasNone(place, text)
  const shownDocument = await server.call('GET', `/job/api/executions/${execution.jobId}/document`)
  assert.deepEqual(shownDocument.json, { login: 'admin:********', n: 7 })
  await receiver.until('the end of the run', () =>
    receiver.received.some(({ event }) => event.type === 'run.finished'),
  )
  for (const { body } of receiver.received) assertHasNone('a webhook', body)
  assertHasNone('events', await eventsOf(server))
  assertHasNone('metrics', (await server.call('GET', '/metrics')).text)

  assert.equal((await server.end('SIGTERM')).code, 0)
  assertHasNone('the log', server.output.lines.join('\n') + server.output.errors)
  const file = join(dataFolder(t), 'all.jsonl.gz')
  assert.equal((await runJobcast(['export', file, '--data', data])).code, 0)
  const dump = gunzipSync(readFileSync(file)).toString()
  assertHasNone('the export', dump)
  assert.ok(dump.includes('********'))
  for (const name of readdirSync(data)) assertHasNone(name, readFileSync(join(data, name)))

  await rotated(t, data, device.token)
})

/** The retry of the run was not taken yet: its secret is encrypted again, and still reaches the device. */
async function rotated(t: TestContext, data: string, token: string): Promise<void> {
  const keyFile = join(data, 'secrets-key')
  assert.equal(statSync(keyFile).mode & 0o777, 0o600)
  const before = readFileSync(keyFile, 'utf8')
  const done = await runJobcast(['secrets', 'rotate', '--data', data])
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stderr, /Encrypted 3 of 3/)
  assert.ok(!readFileSync(keyFile, 'utf8').includes(before.trim()))
  const { http } = await openServer(t, { dataFolder: data })
  const { execution } = (await deviceCalls(http, 'd1', token).startNext()).json
  assert.equal(execution.parameters.password, secret)
}
