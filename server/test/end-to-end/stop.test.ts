// SIGTERM under load drops no request and ends with exit code 0 within 10 s.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type SpawnedServer, spawnServer } from '@jobcast/testkit/spawn-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'

type Answer = { status: number | undefined; closes: boolean; text: string }
type Failure = { code: string | undefined; onUsedConnection: boolean }

/** A trigger on the agent's connection, and how it ended. */
function trigger(server: SpawnedServer, agent: Agent, body: string): Promise<Answer | Failure> {
  return new Promise((resolve) => {
    const headers = { 'x-api-key': server.adminKey, 'content-type': 'application/json' }
    const call = request(`${server.http}/job/api/jobs/execute`, { method: 'POST', agent, headers })
    call.on('error', (error: NodeJS.ErrnoException) => {
      resolve({ code: error.code, onUsedConnection: call.reusedSocket })
    })
    call.on('response', async (response: IncomingMessage) => {
      const closes = response.headers.connection === 'close'
      try {
        const text = (await response.toArray()).join('')
        resolve({ status: response.statusCode, closes, text })
      } catch (error) {
        // Half an answer is a dropped request, on whatever connection.
        resolve({ code: (error as NodeJS.ErrnoException).code, onUsedConnection: true })
      }
    })
    call.end(body)
  })
}

async function open(t: TestContext, deviceIds: string[]) {
  const folder = newTemporaryFolder()
  await seedData(folder, { jobs: ['restart'], deviceIds })
  const server = await spawnServer(folder)
  t.after(() => server.end('SIGKILL'))
  removeAfter(t, folder)
  return { folder, server }
}

function storedRuns(folder: string): number {
  const db = new DatabaseSync(join(folder, 'jobcast.db'), { readOnly: true })
  const { n } = db.prepare('SELECT count(*) AS n FROM run').get() as { n: number }
  db.close()
  return n
}

test('SIGTERM under load: sent requests are answered, acknowledged ones are stored, exit code 0', async (t) => {
  const { folder, server } = await open(t, ['d1', 'd2'])
  const body = JSON.stringify({ jobName: 'restart', deviceIds: ['d1', 'd2'] })
  const answers: Answer[] = []
  const failures: Failure[] = []
  const enough = Promise.withResolvers<void>()
  const callUntilGone = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (;;) {
      const outcome = await trigger(server, agent, body)
      if ('code' in outcome) {
        failures.push(outcome)
        agent.destroy()
        return
      }
      answers.push(outcome)
      if (answers.length === 200) enough.resolve()
    }
  }
  const calling = Array.from({ length: 16 }, callUntilGone)
  await enough.promise
  const begun = performance.now()
  const ended = await server.end('SIGTERM')
  const ms = performance.now() - begun
  await Promise.all(calling)

  assert.deepEqual(ended, { code: 0, signal: null })
  // The guarantee is 10 s; this bound also holds on a busy machine.
  assert.ok(ms < 30_000, `it took ${Math.round(ms)} ms`)
  assert.ok(answers.every((answer) => answer.status === 201))
  // A new connection may come too late; a keep-alive connection must have got "connection: close".
  assert.deepEqual(
    failures.filter((failure) => failure.onUsedConnection),
    [],
  )
  assert.ok(
    answers.some((answer) => answer.closes),
    'nobody was told that the connection closes',
  )
  assert.equal(storedRuns(folder), answers.length)
  t.diagnostic(`${answers.length} answered, gone after ${Math.round(ms)} ms`)
})

test('requests in progress when the service stops are answered; a second SIGTERM changes nothing', async (t) => {
  const deviceIds = deviceIdsUpTo(1000)
  const { folder, server } = await open(t, deviceIds)
  const [execution] = (await server.trigger('restart', ['device-0'])).json
  const path = `/job/api/executions/${execution.jobExecutionId}`
  const waiting = server.call('GET', `${path}?wait=60`)

  // A connection that has asked for nothing, and one that is still asking.
  const port = Number(new URL(server.http).port)
  const silent = connect(port, '127.0.0.1')
  const asking = connect(port, '127.0.0.1')
  const gone = once(silent, 'close')
  await Promise.all([once(silent, 'connect'), once(asking, 'connect')])
  const small = JSON.stringify({ jobName: 'restart', deviceIds: ['device-0'] })
  const head = ['POST /job/api/jobs/execute HTTP/1.1', 'Host: here', `X-API-Key: ${server.adminKey}`]
  const rest = ['Content-Type: application/json', `Content-Length: ${small.length}`, '', '']
  asking.write([...head, ...rest].join('\r\n'))
  // Answered on another connection: by then the server has seen them all.
  assert.equal((await server.call('GET', path)).status, 200)

  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const body = JSON.stringify({ jobName: 'restart', deviceIds })
  const calls = Array.from({ length: 6 }, () => trigger(server, agent, body))
  const first = await Promise.race(calls)
  assert.ok('status' in first && first.status === 201)
  const ended = server.end('SIGTERM')

  const reply = await waiting
  assert.equal(reply.status, 200)
  assert.equal(reply.json.execState, 'PENDING')
  assert.equal(reply.headers.get('connection'), 'close')
  server.process.kill('SIGTERM')
  for (const outcome of await Promise.all(calls)) {
    assert.ok('status' in outcome, `a call was dropped: ${JSON.stringify(outcome)}`)
    assert.equal(JSON.parse(outcome.text).length, deviceIds.length)
  }
  // An idle connection is closed before one with a request in progress.
  await gone
  asking.write(small)
  const answer = Buffer.concat(await asking.toArray()).toString()
  assert.match(answer, /^HTTP\/1\.1 201 /)
  assert.deepEqual(await ended, { code: 0, signal: null })
  assert.equal(storedRuns(folder), 8)
})
