// Signatures of authors: stored with the version of the job, refused if they are for something else, and sent to devices in every
// way in which they get a job.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Envelope, SignedJob } from '@jobcast/contract/signature'
import { newAuthor } from '@jobcast/testkit/author'
import { newDevice } from '@jobcast/testkit/call-device'
import { type Json, MqttLine } from '@jobcast/testkit/mqtt-line'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'

const api = await openSharedServer()
const [anna, ben] = [newAuthor(), newAuthor()]
const document = { handler: 'restart', args: ['kiosk-app'] }
const path = (jobName: string) => `/job/api/jobs/${encodeURIComponent(jobName)}`
const problems = { accept: 'application/problem+json' }

async function putSigned(jobName: string, version: number, content: object = {}): Promise<Envelope> {
  const envelope = anna.sign({ jobName, version, document, ...content })
  const reply = await api.call('PUT', path(jobName), {
    body: { document, ...content, signatures: [envelope] },
  })
  assert.ok(reply.status < 300, reply.text)
  return envelope
}

test('devices get the signature beside the document, in every way in which they get it', async () => {
  const jobName = 'signed "job"'
  const jobSignature = await putSigned(jobName, 1)
  const device = await newDevice(api, 'signed-1')
  const line = await MqttLine.open(api.server.mqtt, device)
  const notices: Json[] = []
  line.onNotice = (suffix, json) => suffix === 'notify-next' && json.execution && notices.push(json)
  await line.subscribe('notify-next', 'start-next/accepted', '+/get/accepted', '+/update/accepted')
  const [{ jobExecutionId: id }] = (await api.trigger(jobName, ['signed-1'])).json
  await waitUntil('notified', () => notices.length > 0)
  const byMqtt = [
    notices[0].execution,
    (await line.request('$next/get', {})).json.execution,
    (await line.request(`${id}/get`, {})).json.execution,
    (await line.request('start-next', {})).json.execution,
    (await line.request(`${id}/update`, { status: 'IN_PROGRESS', includeJobDocument: true })).json,
  ]
  line.end()
  const byHttp = [
    (await device.call('GET', `/${id}?includeJobDocument=true`)).json.execution,
    (await device.startNext()).json.execution,
    (await device.update(id, 'IN_PROGRESS', { includeJobDocument: true })).json,
  ]
  for (const got of byMqtt) {
    assert.deepEqual([got.jobName, got.jobDocument, got.jobSignature], [jobName, document, jobSignature])
  }
  for (const got of byHttp) {
    const handed = [got.jobName, JSON.parse(got.jobDocument), got.jobSignature]
    assert.deepEqual(handed, [jobName, document, jobSignature])
  }
  // Without the document there is none, and an unsigned job has none.
  assert.equal((await device.call('GET', `/${id}`)).json.execution.jobSignature, undefined)
  await device.update(id, 'SUCCEEDED')
  await api.call('PUT', path(jobName), { body: { document } })
  await api.trigger(jobName, ['signed-1'])
  const plain = (await device.startNext()).json.execution
  assert.deepEqual([plain.jobSignature, plain.jobName, plain.parameters], [undefined, undefined, undefined])
})

test('a run keeps the signatures of the version that it carries out', async () => {
  const first = await putSigned('kept', 1)
  const device = await newDevice(api, 'signed-2')
  await api.trigger('kept', ['signed-2'])
  await putSigned('kept', 2, { document: { handler: 'other' } })
  assert.deepEqual((await device.startNext()).json.execution.jobSignature, first)
})

test('envelopes of the same job become one; the same again makes no new version', async () => {
  const job: SignedJob = { jobName: 'merged', version: 1, document }
  const [one, two] = [anna.sign(job), ben.sign(job)]
  const body = { document, signatures: [one, two, one] }
  const created = await api.call('PUT', path('merged'), { body })
  assert.equal(created.status, 201, created.text)
  const merged = [{ ...one, signatures: [...one.signatures, ...two.signatures] }]
  assert.deepEqual(created.json.signatures, merged)
  const again = await api.call('PUT', path('merged'), { body: { document, signatures: merged } })
  assert.deepEqual([again.status, again.json.version], [200, 1])
  assert.deepEqual((await api.call('GET', path('merged'))).json.signatures, merged)
  const unsigned = await api.call('PUT', path('merged'), { body: { document, signatures: [] } })
  assert.deepEqual([unsigned.json.version, unsigned.json.signatures], [2, []])
})

const job: SignedJob = { jobName: 'wanted', version: 1, document }
const good = anna.sign(job)
const other = (changes: Partial<SignedJob>) => [anna.sign({ ...job, ...changes })]
const twelve = Array.from({ length: 12 }, () => good.signatures[0])
const deep = Buffer.from(`${'['.repeat(40_000)}${']'.repeat(40_000)}`)

const refused: [name: string, signatures: unknown, field: string][] = [
  ['no list', good, 'signatures'],
  ['no envelope', ['junk'], 'signatures[0]'],
  ['an empty envelope', [{}], 'signatures[0].payloadType'],
  ['more than it has', [{ ...good, more: 1 }], 'signatures[0].more'],
  ['another payloadType', [{ ...good, payloadType: 'application/json' }], 'signatures[0].payloadType'],
  ['base64 junk', [{ ...good, payload: '{}' }], 'signatures[0].payload'],
  ['a payload too large', [{ ...good, payload: 'A'.repeat(132_000) }], 'signatures[0].payload'],
  ['a payload nested too deep', [anna.signBytes(deep)], 'signatures[0].payload'],
  ['a payload that is no job', [anna.signBytes(Buffer.from('{}'))], 'signatures[0].payload.jobName'],
  ['too many signatures', [{ ...good, signatures: twelve }], 'signatures[0].signatures'],
  ['too many envelopes', twelve.map(() => good), 'signatures'],
  ['no signatures', [{ ...good, signatures: [] }], 'signatures[0].signatures'],
  ['a short signature', [{ ...good, signatures: [{ sig: 'AAAA' }] }], 'signatures[0].signatures[0].sig'],
  ['another job', other({ jobName: 'another' }), 'signatures[0].payload.jobName'],
  ['another document', other({ document: {} }), 'signatures[0].payload.document'],
  ['other parameters', other({ parameters: { type: 'object' } }), 'signatures[0].payload.parameters'],
  ['another version', other({ version: 2 }), 'signatures[0].payload.version'],
  ['a time that has passed', other({ notAfter: '2020-01-01T00:00:00Z' }), 'signatures[0].payload.notAfter'],
  ['two payloads', [good, ...other({ version: 2 })], 'signatures[1].payload'],
]

test('what is not an envelope of this job and this version is refused at its field, and nothing is stored', async () => {
  for (const [name, signatures, field] of refused) {
    const reply = await api.call('PUT', path('wanted'), { body: { document, signatures }, headers: problems })
    assert.deepEqual(
      [reply.status, reply.json.code, reply.json.field],
      [400, 'J-500', field],
      `${name}: ${reply.text}`,
    )
    assert.match(reply.json.detail, /\.$/, name)
  }
  assert.equal((await api.call('GET', path('wanted'))).status, 404)
})

test('a signature of an older or a later version is refused, with the version that is next', async () => {
  await putSigned('counted', 1)
  for (const version of [1, 3]) {
    const content = { document: { handler: 'new' } }
    const body = { ...content, signatures: [anna.sign({ jobName: 'counted', version, ...content })] }
    const reply = await api.call('PUT', path('counted'), { body, headers: problems })
    assert.equal(reply.status, 400, reply.text)
    assert.match(reply.json.detail, new RegExp(`is ${version}, but the next version of the job is 2`))
  }
  const { version, document: kept } = (await api.call('GET', path('counted'))).json
  assert.deepEqual([version, kept], [1, document])
  // What is put after the job was deleted continues counting, so a device that has seen version 1 takes it.
  await api.call('DELETE', path('counted'))
  await putSigned('counted', 2)
})

test('a signed version cannot be restored: its author signs it again as the next one', async () => {
  await putSigned('restored', 1)
  await putSigned('restored', 2, { document: { handler: 'new' } })
  const reply = await api.call('POST', `${path('restored')}/versions/1/restore`)
  assert.deepEqual([reply.status, reply.json.code], [409, 'J-316'])
  assert.equal((await api.call('GET', path('restored'))).json.version, 2)
  await putSigned('restored', 3)
  // The version itself shows what was signed.
  const { signatures } = (await api.call('GET', `${path('restored')}/versions/1`)).json
  assert.deepEqual(signatures, [anna.sign({ jobName: 'restored', version: 1, document })])
})
