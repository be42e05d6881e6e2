// A compromised server cannot run anything: with any response, an agent that requires signatures runs nothing and writes nothing
// outside its state folder. Every field of every response is replaced, over HTTP and over MQTT.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { newAuthor } from '@jobcast/testkit/author'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { within } from '@jobcast/testkit/within'
import mqttPacket from 'mqtt-packet'
import { startAgent } from '../src/agent.ts'
import { enrollDevice } from '../src/device/enroll.ts'
import { asObject } from '../src/transport/transport.ts'
import { EventLog } from './support/event-log.ts'
import { hostileAnswer, hostileValues, pathsOf, type Route, replaced } from './support/hostile-answers.ts'

const cases = testSize('cases', { test: 150, chaos: 4000 })
const genuineRuns = testSize('runs', { test: 6, chaos: 200 })
const failsafeMs = longTest.timeout
const [anna, eve] = [newAuthor(), newAuthor()]
const backoff = { baseMs: 1, capMs: 1 }
const token = `jd_${'0'.repeat(48)}`

/** Folders of a device: everything outside of `state` must remain unchanged. */
function newPlace(t: TestContext) {
  const root = temporaryFolder(t)
  const at = (name: string) => join(root, name)
  for (const name of ['handlers', 'outside', 'marks']) mkdirSync(at(name), { mode: 0o755 })
  const script = (name: string, line: string) => {
    writeFileSync(at(`handlers/${name}`), `#!/bin/sh\n${line}\n`)
    chmodSync(at(`handlers/${name}`), 0o755)
  }
  script('mark', `touch "${at('outside/ran')}"`)
  script(
    'allowed',
    `echo "allowed $*" >>"${at('marks/marks')}"; i=0; while [ $i -lt 30 ]; do echo $i; i=$((i+1)); done`,
  )
  writeFileSync(at('trusted.pem'), anna.publicPem, { mode: 0o644 })
  const outside = () =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => !/^(state|marks)(\/|$)/.test(path) && statSync(at(path)).isFile())
      .map((path) => [path, readFileSync(at(path), 'utf8')])
      .sort()
  return { root, at, outside }
}

type Place = ReturnType<typeof newPlace>

const command = (place: Place) => ({ command: ['touch', place.at('outside/ran')] })

/** An execution signed by an untrusted key, or by an author for another audience. */
function execution(random: Random, place: Place, agent: unknown) {
  const document = random.pick([command(place), { handler: 'mark' }])
  const job = { jobName: 'job', version: 1 + random.below(9), document }
  const jobSignature = random.pick([
    anna.sign({ ...job, audience: 'lima' }),
    anna.sign(job),
    anna.sign({ ...job, audience: 'berlin', notAfter: '2020-01-01T00:00:00Z' }),
    anna.sign({ ...job, audience: 'berlin', jobName: 'another' }),
    eve.sign({ ...job, audience: 'berlin' }),
    { ...anna.sign({ ...job, audience: 'berlin', document: {} }), payload: eve.sign(job).payload },
  ])
  return {
    ...{
      jobId: String(1 + random.below(1e9)),
      executionNumber: 1,
      queuedAt: 1,
      lastUpdatedAt: 1,
      versionNumber: 1,
    },
    ...{
      status: 'IN_PROGRESS',
      statusDetails: { agent },
      jobName: 'job',
      jobDocument: JSON.stringify(document),
    },
    ...{ jobSignature, runId: 1, parameters: { a: 'b' }, approximateSecondsBeforeTimedOut: 60 },
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  }
}

/** The response of a real server, except for its content. */
function template(route: Route, random: Random, place: Place, body: Record<string, unknown>): unknown {
  const queued = [{ jobId: '7', queuedAt: 1, lastUpdatedAt: 1, executionNumber: 1, versionNumber: 1 }]
  const agent = (body.statusDetails as { agent?: unknown } | undefined)?.agent
  switch (route) {
    case 'next':
    case 'describe':
      return { execution: execution(random, place, agent), timestamp: 1, clientToken: body.clientToken }
    case 'list':
      return { inProgressJobs: [], queuedJobs: queued, timestamp: 1 }
    case 'update':
      return {
        executionState: { status: 'FAILED', versionNumber: 2 },
        jobDocument: command(place),
        timestamp: 1,
      }
    case 'output':
      return { offset: 4, cut: false, timestamp: 1 }
    case 'attributes':
      return { state: { reported: { os: 'x' } }, version: 1, timestamp: 1 }
    case 'enroll':
      return { deviceToken: token, deviceId: 'd', message: 'x' }
  }
}

/** Each field by each value before any is repeated: `next` alone has several hundred. */
function newFuzzer(random: Random, place: Place) {
  const values = hostileValues(place.at('outside'))
  const left = new Map<Route, [number, number][]>()
  return (route: Route, body: Record<string, unknown>): unknown => {
    const json = template(route, random, place, body)
    const paths = pathsOf(json)
    const queue = left.get(route) ?? []
    if (queue.length === 0) {
      const all = paths.flatMap((_, path) =>
        [-1, ...values.keys()].map((value) => [path, value] as [number, number]),
      )
      queue.push(...random.some(all, all.length))
      left.set(route, queue)
    }
    const [path, value] = queue.pop() as [number, number]
    return replaced(json, paths[path % paths.length] ?? [], value < 0 ? undefined : values[value])
  }
}

function routeOf({ method, url = '' }: IncomingMessage): Route {
  if (url.endsWith('/$next')) return 'next'
  if (url.endsWith('/output')) return 'output'
  if (url.endsWith('/enroll')) return 'enroll'
  if (url.endsWith('/attributes')) return 'attributes'
  if (method === 'GET') return /\/jobs(\?|$)/.test(url) ? 'list' : 'describe'
  return 'update'
}

type Answer = { status: number; headers?: Record<string, string>; body: string }
type Answerer = (route: Route, body: Record<string, unknown>, request: IncomingMessage) => Answer

async function openHttp(t: TestContext, answer: Answerer): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { status, headers, body } = answer(routeOf(request), parsed(Buffer.concat(chunks)), request)
    response.writeHead(status, headers).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function parsed(bytes: Buffer): Record<string, unknown> {
  return bytes.length === 0 ? {} : JSON.parse(bytes.toString())
}

function agentOptions(place: Place, log: EventLog) {
  return {
    ...{ deviceId: 'd', readToken: () => token, backoff, pollEveryMs: 2, tell: log.tell },
    ...{ handlersFolder: place.at('handlers'), stateFolder: place.at('state'), allowCommands: true },
    trust: { keysFile: place.at('trusted.pem'), requiredSignatures: 1, audience: 'berlin' },
  }
}

/** Nothing was started, and everything outside the state folder is unchanged. */
function assertUntouched(place: Place, log: EventLog, before: ReturnType<Place['outside']>): void {
  assert.deepEqual(log.of('started'), [])
  assert.deepEqual(place.outside(), before)
  assert.deepEqual(readdirSync(place.at('marks')), [])
}

test(`over HTTP no answer makes an agent start or write anything (seed ${testSeed})`, longTest, async (t) => {
  const random = seededRandom(testSeed)
  const place = newPlace(t)
  const log = new EventLog()
  const fuzz = newFuzzer(random, place)
  const done = Promise.withResolvers<void>()
  let answered = 0
  let redirected = 0
  const elsewhere = await openHttp(t, () => {
    redirected++
    return { status: 200, body: '{}' }
  })
  const url = await openHttp(t, (route, body) => {
    if (route === 'next' && ++answered >= cases) done.resolve()
    return hostileAnswer(random, fuzz(route, body), elsewhere)
  })
  const before = place.outside()
  const agent = await startAgent({ ...agentOptions(place, log), server: { by: 'http', url } })
  t.after(() => agent.stop())
  await within(failsafeMs, () => `${answered} of ${cases}`, done.promise)
  await agent.stop()
  assertUntouched(place, log, before)
  assert.equal(redirected, 0, 'it followed a redirect')
  // Some were only refused because of their content.
  const reasons = log.of('ended').map(({ reason }) => reason ?? '')
  for (const pattern of [
    /for the audience "lima"/,
    /not signed by a key that this device trusts/,
    /not signed|envelope/,
  ]) {
    assert.ok(
      reasons.some((reason) => pattern.test(reason)),
      `${pattern}: ${reasons.slice(0, 20).join('\n')}`,
    )
  }
})

test(
  `over MQTT no message makes an agent start or write anything (seed ${testSeed})`,
  longTest,
  async (t) => {
    const random = seededRandom(testSeed + 1)
    const place = newPlace(t)
    const log = new EventLog()
    const fuzz = newFuzzer(random, place)
    const done = Promise.withResolvers<void>()
    const odd = hostileValues(place.at('outside')).filter(
      (each) => typeof each === 'string' && /^[^#+\0\ud800]{1,1000}$/.test(each),
    )
    let answered = 0
    const serve = (socket: Socket) => {
      socket.setNoDelay(true)
      const parser = mqttPacket.parser({ protocolVersion: 5 })
      const send = (packet: mqttPacket.Packet) =>
        socket.writable && socket.write(mqttPacket.generate(packet, { protocolVersion: 5 }))
      const publish = (topic: string, json: unknown) =>
        send({
          cmd: 'publish',
          qos: 0,
          dup: false,
          retain: false,
          topic,
          payload: JSON.stringify(json) ?? 'x',
        })
      const reply = (topic: string, body: Record<string, unknown>) => {
        const route: Route = topic.endsWith('/start-next')
          ? 'next'
          : topic.includes('/shadow/')
            ? 'attributes'
            : 'update'
        const prefix = topic.replace(/[^/]+$/, '')
        const fuzzed = fuzz(route, body)
        publish(`${prefix}${random.pick(odd)}/cancel`, { deadlineSeconds: random.pick([0, -1, 1e308, '1']) })
        publish(`${topic}/${random.pick(['accepted', 'rejected'])}`, fuzzed)
        // A message that is no answer keeps the agent waiting, so that there is always one.
        publish(`${topic}/accepted`, { ...asObject(fuzzed), clientToken: body.clientToken })
        publish(`${prefix}notify-next`, { execution: random.pick([{}, fuzzed, 'x', null]) })
        publish(`${prefix}notify-next`, { execution: {} })
        if (route === 'next' && ++answered >= cases) done.resolve()
      }
      parser.on('packet', (packet) => {
        if (packet.cmd === 'connect') send({ cmd: 'connack', reasonCode: 0, sessionPresent: false })
        if (packet.cmd === 'pingreq') send({ cmd: 'pingresp' })
        if (packet.cmd === 'subscribe') {
          send({
            cmd: 'suback',
            messageId: packet.messageId as number,
            granted: packet.subscriptions.map(() => 1),
          })
        }
        if (packet.cmd === 'publish') reply(packet.topic, parsed(packet.payload as Buffer))
      })
      socket.on('data', (chunk: Buffer) => parser.parse(chunk))
      socket.on('error', () => undefined)
    }
    const server = createTcpServer(serve).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const before = place.outside()
    const url = `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`
    const agent = await startAgent({ ...agentOptions(place, log), server: { by: 'mqtt', url } })
    t.after(() => agent.stop())
    await within(failsafeMs, () => `${answered} of ${cases}`, done.promise)
    await agent.stop()
    assertUntouched(place, log, before)
  },
)

test(
  `while a signed job runs, no answer makes the agent do anything else (seed ${testSeed})`,
  longTest,
  async (t) => {
    const random = seededRandom(testSeed + 2)
    const place = newPlace(t)
    const log = new EventLog()
    const fuzz = newFuzzer(random, place)
    const done = Promise.withResolvers<void>()
    const document = { handler: 'allowed', args: ['signed'] }
    const jobSignature = anna.sign({ jobName: 'job', version: 1, document, audience: 'berlin' })
    const routes = new Set<Route>()
    let offered = 0
    const url = await openHttp(t, (route, body) => {
      routes.add(route)
      if (route !== 'next') return hostileAnswer(random, fuzz(route, body), 'http://127.0.0.1:1/')
      if (++offered > genuineRuns) done.resolve()
      const json = {
        ...execution(random, place, (body.statusDetails as { agent: string }).agent),
        jobSignature,
      }
      const { parameters: _, ...plain } = json
      return {
        status: 200,
        body: JSON.stringify({ execution: { ...plain, jobDocument: JSON.stringify(document) } }),
      }
    })
    const before = place.outside()
    const agent = await startAgent({ ...agentOptions(place, log), server: { by: 'http', url } })
    t.after(() => agent.stop())
    await within(failsafeMs, () => `${offered} of ${genuineRuns}`, done.promise)
    await agent.stop()
    assert.deepEqual(place.outside(), before)
    const marks = readFileSync(place.at('marks/marks'), 'utf8').trim().split('\n')
    assert.deepEqual([...new Set(marks)], ['allowed signed'])
    assert.ok(marks.length <= log.of('started').length && log.of('started').length <= offered)
    for (const route of ['output', 'update', 'attributes'] as const) assert.ok(routes.has(route), route)
  },
)

test(
  `no answer to an enrollment makes the agent write anything but a token (seed ${testSeed})`,
  longTest,
  async (t) => {
    const random = seededRandom(testSeed + 3)
    const place = newPlace(t)
    const fuzz = newFuzzer(random, place)
    const url = await openHttp(t, (route, body) => ({
      status: 201,
      body: JSON.stringify(fuzz(route, body)) ?? '',
    }))
    const before = place.outside()
    mkdirSync(place.at('state'))
    for (let count = 0; count < cases / 2; count++) {
      const tokenFile = place.at(`state/token-${count}`)
      const options = { server: url, deviceId: 'd', enrollmentToken: 'je_x', tokenFile, tries: 1, backoff }
      await enrollDevice(options).catch(() => undefined)
    }
    assert.deepEqual(place.outside(), before)
    for (const name of readdirSync(place.at('state'))) {
      assert.match(
        readFileSync(place.at(`state/${name}`), 'utf8'),
        name.endsWith('.claim') ? /^[\w-]{32}\n$/ : /^jd_0{48}\n$/,
      )
    }
  },
)
