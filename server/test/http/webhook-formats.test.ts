// Webhooks for chats and for receivers of CloudEvents, checked with what the vendors publish: the SDK of CloudEvents,
// that of Adaptive Cards, and the one of Slack for incoming webhooks.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { type TestContext, test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { type Received, WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { IncomingWebhook } from '@slack/webhook'
import { CloudEvent, type CloudEventV1, HTTP } from 'cloudevents'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import { assertRefused } from './assert-reply.ts'

// Its other build has imports that Node does not resolve.
const cards: typeof import('adaptivecards') = createRequire(import.meta.url)(
  'adaptivecards/dist/adaptivecards.js',
)
const { AdaptiveCard, SerializationContext, Versions } = cards

const publicUrl = 'https://jobcast.example.com'
const api = await openSharedServer({
  webhookAllow: ['127.0.0.1'],
  publicUrl,
  quotas: { ...noQuotas, webhooks: 100 },
})
const webhooks = '/job/api/webhooks'
let names = 0

async function openWebhook(t: TestContext, content: object) {
  const receiver = await WebhookReceiver.open(t)
  const name = `formatted-${++names}`
  const created = await api.call('PUT', `${webhooks}/${name}`, { body: { url: receiver.url, ...content } })
  assert.equal(created.status, 201)
  t.after(() => api.call('DELETE', `${webhooks}/${name}`))
  return { receiver, name, secret: created.json.secret as string }
}

/** Each device ends its execution in the state given; all others of the run are canceled. */
async function carryOut(
  jobName: string,
  ends: Record<string, { status: string; reason?: string }>,
  more = 0,
) {
  const devices = await Promise.all(Object.keys(ends).map((id) => newDevice(api, id)))
  const others = Array.from({ length: more }, (_, index) => `${jobName}-other-${index}`)
  await api.putJobAndDevices(jobName, others)
  const reply = await api.trigger(jobName, [...Object.keys(ends), ...others])
  assert.equal(reply.status, 201)
  const started: number[] = []
  for (const device of devices) started.push(Number((await device.startNext()).json.execution.jobId))
  const { items } = (await api.call('GET', `/job/api/runs?jobName=${jobName}`)).json
  const runId = items[0].runId as number
  // Before the first failure: a run that has not finished five seconds after it is a message of its own.
  if (more > 0) {
    await api.call('POST', `/job/api/runs/${runId}/cancel`)
    await waitUntil('the others are canceled', async () => {
      const { counts } = (await api.call('GET', `/job/api/runs/${runId}`)).json
      return counts.CANCELED === more
    })
  }
  for (const [index, device] of devices.entries()) {
    const { status, reason } = ends[device.deviceId] ?? assert.fail()
    await device.update(started[index] ?? 0, status, { ...(reason && { statusDetails: { reason } }) })
  }
  return runId
}

/** Sends one message more, which a person sees behind all others, so that nothing can still be on its way. */
async function endOf(receiver: WebhookReceiver, isEnd: (received: Received) => boolean) {
  await api.call('POST', '/job/api/fleet/freeze', { body: { reason: 'the end' } })
  // Messages about a run and about the fleet can overtake each other.
  await receiver.until('the freeze and a run are sent', () =>
    [true, false].every((which) => receiver.accepted.some((each) => isEnd(each) === which)),
  )
  await api.call('DELETE', '/job/api/fleet/freeze')
  return receiver.received.filter((received) => !isEnd(received))
}

test('Slack gets one message for a run, as its SDK sends them', async (t) => {
  const eventTypes = ['execution.*', 'fleet.frozen']
  const { receiver, secret } = await openWebhook(t, { format: 'slack', eventTypes })
  const others = testSize('others', { test: 300, chaos: 9996 })
  const ends = {
    s1: { status: 'SUCCEEDED' },
    s2: { status: 'FAILED', reason: 'disk full <!channel>' },
    s3: { status: 'FAILED', reason: 'disk full <!channel>' },
    s4: { status: 'REJECTED' },
  }
  const runId = await carryOut('slack-fw', ends, others)
  const sent = await endOf(receiver, ({ event }) => event.text.startsWith('The fleet was frozen'))
  assert.equal(sent.length, 1)
  const [{ event, body, headers } = assert.fail()] = sent
  assert.deepEqual(event, {
    text:
      `slack-fw version 1 finished: 1 of ${others + 4} devices succeeded, 2 failed, 1 rejected, ${others} canceled ` +
      `(disk full &lt;!channel&gt;: 2). <${publicUrl}/runs/${runId}|Open in Jobcast>`,
  })
  receiver.verifyAll(secret)

  const bySdk = await WebhookReceiver.open(t)
  await new IncomingWebhook(bySdk.url).send({ text: event.text })
  assert.equal(bySdk.received[0]?.body, body)
  assert.equal(bySdk.received[0]?.headers['content-type']?.split(';')[0], headers['content-type'])
})

test('a run is not sent for executions that ended otherwise', async (t) => {
  const eventTypes = ['execution.failed', 'fleet.frozen']
  const { receiver } = await openWebhook(t, { format: 'slack', eventTypes })
  await carryOut('good-fw', { g1: { status: 'SUCCEEDED' } })
  await carryOut('bad-fw', { b1: { status: 'FAILED' } })
  const sent = await endOf(receiver, ({ event }) => event.text.startsWith('The fleet was frozen'))
  assert.deepEqual(
    sent.map(({ event }) => event.text.split(' <')[0]),
    ['bad-fw version 1 finished: 0 of 1 device succeeded, 1 failed.'],
  )
})

test('a run that continues is one message when its first devices fail, and one at its end', async (t) => {
  const eventTypes = ['execution.*']
  const { receiver, name } = await openWebhook(t, { format: 'slack', eventTypes })
  const devices = await Promise.all(['e1', 'e2', 'e3'].map((id) => newDevice(api, id)))
  await api.putJobAndDevices('long-fw', ['offline'])
  await api.trigger('long-fw', ['e1', 'e2', 'e3', 'offline'])
  const [first = assert.fail(), ...others] = devices
  const fail = async (device: typeof first) => {
    const { jobId } = (await device.startNext()).json.execution
    await device.update(Number(jobId), 'FAILED', {
      statusDetails: { reason: '*no* _space_ at www.evil.example' },
    })
  }
  await fail(first)
  await receiver.until('the first failure is sent', () => receiver.accepted.length === 1)
  const { items } = (await api.call('GET', '/job/api/runs?jobName=long-fw')).json
  const { runId } = items[0]
  const why = '\uff0ano\uff0a \uff3fspace\uff3f at www[.]evil[.]example'
  const link = `<${publicUrl}/runs/${runId}|Open in Jobcast>`
  assert.equal(
    receiver.accepted[0]?.event.text,
    `long-fw version 1 is running: so far 1 of 4 devices failed (${why}: 1). ${link}`,
  )
  // The sender starts over with a changed webhook, and still knows which run it has reported.
  const changed = { url: receiver.url, format: 'slack', eventTypes: ['execution.*', 'fleet.frozen'] }
  assert.equal((await api.call('PUT', `${webhooks}/${name}`, { body: changed })).status, 200)
  for (const device of others) await fail(device)
  await api.call('POST', `/job/api/runs/${runId}/cancel`)
  await receiver.until('the end is sent', () => receiver.accepted.length >= 2)
  const sent = await endOf(receiver, ({ event }) => event.text.startsWith('The fleet was frozen'))
  assert.deepEqual(
    sent.map(({ event }) => event.text.split(':')[0]),
    ['long-fw version 1 is running', `long-fw version 1 finished`],
  )
  assert.match(sent[1]?.event.text, /0 of 4 devices succeeded, 3 failed, 1 canceled/)
})

test('a rollout in four waves that a rule pauses is one sentence, as people read it', async (t) => {
  const { receiver } = await openWebhook(t, { format: 'slack' })
  const ids = ['v1', 'v2', 'v3', 'v4', 'v5', 'v6']
  const devices = await Promise.all(ids.map((id) => newDevice(api, id)))
  await api.putJobAndDevices('waves-fw', [])
  const rollout = {
    ...{ order: 'GIVEN', waves: [{ size: 1 }, { size: 3 }, { size: 1 }, { size: '100%' }] },
    ...{ next: { succeededPercent: 100 }, stop: [{ on: ['FAILED'], count: 2 }] },
  }
  const body = { jobName: 'waves-fw', targets: { deviceIds: ids }, rollout }
  const { status, json: run } = await api.call('POST', '/job/api/runs', { body })
  assert.equal(status, 201, JSON.stringify(run))
  const end = async (index: number, state: string) => {
    const device = devices[index] ?? assert.fail()
    // Its wave may be released only now: the call returns as soon as something is pending.
    await device.call('GET', '?wait=60')
    const { execution } = (await device.startNext()).json
    await device.update(Number(execution.jobId), state, { statusDetails: { reason: 'disk full' } })
  }
  await end(0, 'SUCCEEDED')
  await end(1, 'FAILED')
  await end(2, 'FAILED')
  await receiver.until('the pause is sent', () => receiver.accepted.length === 1)
  assert.equal(
    receiver.accepted[0]?.event.text.split(' <')[0],
    'Rollout of waves-fw version 1 paused in wave 2 of 4: 2 of 4 devices failed (disk full: 2).',
  )
  await api.call('POST', `/job/api/runs/${run.runId}/cancel`)
})

test('Teams gets an Adaptive Card that its SDK reads without complaint', async (t) => {
  const { receiver, name } = await openWebhook(t, { format: 'teams' })
  const runId = await carryOut('teams-fw', {
    t1: { status: 'FAILED', reason: '[click](https://evil.example)' },
  })
  const test = await api.call('POST', `${webhooks}/${name}/test`)
  assert.equal(test.json.status, 204)
  await receiver.until('both are received', () => receiver.received.length >= 2)
  const contents = receiver.received.map(({ event }) => {
    assert.deepEqual(Object.keys(event), ['type', 'attachments'])
    const [{ contentType, content }] = event.attachments
    assert.deepEqual([event.type, contentType], ['message', 'application/vnd.microsoft.card.adaptive'])
    return content
  })
  for (const content of contents) {
    const context = new SerializationContext(Versions.v1_4)
    const card = new AdaptiveCard()
    card.parse(content, context)
    const problems = [...Array(context.eventCount).keys()].map((index) => context.getEventAt(index))
    assert.deepEqual([...problems, ...card.validateProperties().validationEvents], [])
    assert.equal(card.getItemCount(), 1)
  }
  const [card] = contents.filter(({ body }) => body[0].text.startsWith('teams-fw'))
  assert.match(
    card.body[0].text,
    /1 failed \(\\\[click\\\]\(https\\\[:\\\]\/\/evil\\\[\.\\\]example\): 1\)\.$/,
  )
  assert.deepEqual(card.actions[0].url, `${publicUrl}/runs/${runId}`)
})

test('CloudEvents are read and validated by their SDK, each event one of them', async (t) => {
  const eventTypes = ['execution.*', 'run.finished']
  const { receiver, name } = await openWebhook(t, { format: 'cloudevents', eventTypes })
  const runId = await carryOut('cloud-fw', { c1: { status: 'FAILED', reason: 'disk full' } })
  await receiver.until('all three events are received', () => receiver.accepted.length === 3)
  await api.call('POST', `${webhooks}/${name}/test`)
  assert.equal(receiver.received.length, 4)
  for (const { body, headers, id } of receiver.received) {
    const event = HTTP.toEvent({ headers, body }) as CloudEventV1<unknown>
    assert.ok(new CloudEvent(event).validate())
    assert.deepEqual([event.id, event.source, event.specversion], [id, publicUrl, '1.0'])
  }
  const failed = receiver.received.find(({ event }) => event.type === 'jobcast.execution.failed')?.event
  const { jobExecutionId } = failed.data
  assert.equal(failed.subject, `execution ${jobExecutionId}`)
  assert.equal(failed.summary, 'cloud-fw on c1: failed (disk full).')
  assert.equal(failed.consoleurl, `${publicUrl}/executions/${jobExecutionId}`)
  assert.equal(failed.data.runId, runId)
})

test('the format is kept, replaced by PUT, and refused with J-500 where it sends nothing', async (t) => {
  const { receiver, name } = await openWebhook(t, { format: 'slack' })
  const read = async () => (await api.call('GET', `${webhooks}/${name}`)).json.format
  assert.equal(await read(), 'slack')
  const put = (body: object) =>
    api.call('PUT', `${webhooks}/${name}`, { body: { url: receiver.url, ...body } })
  assert.equal((await put({})).status, 200)
  assert.equal(await read(), 'jobcast')
  for (const body of [
    { format: 'discord' },
    { format: null },
    { format: 'slack', eventTypes: ['device.online'] },
    { format: 'teams', eventTypes: ['run.finished', 'execution.progress'] },
    { format: 'slack', eventTypes: ['device.*'] },
    { format: 'slack', eventTypes: ['run.released'] },
  ])
    assertRefused(await put(body), 'J-500')
  assert.equal((await put({ format: 'cloudevents', eventTypes: ['device.*'] })).status, 200)
})
