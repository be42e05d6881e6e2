// Devices of hawkBit: polls, installations, reports and refusals.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { type DdiDevice, ddiDevice, newDdiDevice } from '@jobcast/testkit/call-ddi'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'

const api = await openSharedServer({ ddiPollSeconds: 300 })
const content = Buffer.from('a firmware')
const hashOf = (kind: string) => createHash(kind).update(content).digest('hex')
await api.call('PUT', '/job/api/files/app/2.4', {
  rawBody: content,
  headers: { 'content-type': 'application/octet-stream' },
})
const putJob = (jobName: string, job: object) => api.call('PUT', `/job/api/jobs/${jobName}`, { body: job })
await putJob('update', { document: { files: ['app'], version: '2.4', part: 'os' } })
await putJob('again', {
  document: { files: ['app'] },
  retry: { max: 1, backoffSeconds: 0, on: ['FAILED'] },
})
await putJob('restart', { document: { handler: 'restart' } })

async function launch(device: DdiDevice, jobName = 'update'): Promise<number> {
  const reply = await api.trigger(jobName, [device.deviceId])
  assert.equal(reply.status, 201, reply.text)
  return reply.json[0].jobExecutionId
}
async function execution(id: number) {
  return (await api.call('GET', `/job/api/executions/${id}`)).json
}
async function outputOf(id: number): Promise<string> {
  return (await api.call('GET', `/job/api/executions/${id}/output`)).text
}

test('a device polls, installs what it is offered, and reports; then it finds it as installed', async () => {
  const device = await newDdiDevice(api, 'walk')
  const idle = await device.call('GET')
  assert.equal(idle.status, 200, idle.text)
  assert.equal(idle.json.config.polling.sleep, '00:05:00')
  assert.deepEqual(Object.keys(idle.json._links), ['configData'])
  const id = await launch(device)
  const waiting = await device.call('GET')
  assert.equal(waiting.json.config.polling.sleep, '00:00:30')
  assert.equal((await device.links()).deploymentBase, `/deploymentBase/${id}`)
  const { json, status, text } = await device.call('GET', `/deploymentBase/${id}`)
  assert.equal(status, 200, text)
  const [chunk] = json.deployment.chunks
  const [artifact] = chunk.artifacts
  const { download } = artifact._links
  assert.deepEqual(json, {
    id: String(id),
    deployment: {
      ...{ download: 'forced', update: 'forced' },
      chunks: [
        {
          ...{ part: 'os', version: '2.4', name: 'app' },
          artifacts: [
            {
              filename: 'app.swu',
              hashes: { sha1: hashOf('sha1'), md5: hashOf('md5'), sha256: hashOf('sha256') },
              size: content.length,
              _links: { download, 'download-http': download },
            },
          ],
        },
      ],
    },
  })
  assert.equal(await (await fetch(download.href)).text(), content.toString())
  assert.equal((await execution(id)).execState, 'PENDING')
  for (const step of ['scheduled', 'resumed', 'download', 'downloaded', 'proceeding']) {
    const more = { details: [`now ${step}`, 'ü'], progress: { cnt: 1, of: 2 } }
    assert.equal((await device.feedback(id, step, more)).status, 200)
    const { execState, statusDetails } = await execution(id)
    assert.equal(execState, 'IN_PROGRESS')
    assert.deepEqual(statusDetails, { execution: step, progress: '1/2', message: 'ü' })
  }
  const closed = await device.feedback(id, 'closed', { finished: 'success', details: ['done'] })
  assert.deepEqual([closed.status, closed.text], [200, ''])
  assert.equal((await execution(id)).execState, 'SUCCEEDED')
  assert.equal(
    await outputOf(id),
    'now scheduled\nü\nnow resumed\nü\nnow download\nü\nnow downloaded\nü\nnow proceeding\nü\ndone\n',
  )
  assert.equal((await device.links()).installedBase, `/installedBase/${id}`)
  assert.equal((await device.call('GET', `/installedBase/${id}`)).json.id, String(id))
  assert.equal((await device.call('GET', `/deploymentBase/${id}`)).status, 410)
})

test('an unchanged poll is 304, and a change is seen at once', async () => {
  const device = await newDdiDevice(api, 'tags')
  const poll = (tag: string) => device.call('GET', '', undefined, { 'if-none-match': tag })
  const tag = (await device.call('GET')).headers.get('etag') ?? ''
  assert.match(tag, /^"[\w-]+"$/)
  const same = await poll(tag)
  assert.deepEqual([same.status, same.text, same.headers.get('etag')], [304, '', tag])
  assert.equal((await poll(`"other", W/${tag}`)).status, 304)
  const id = await launch(device)
  const changed = await poll(tag)
  assert.equal(changed.status, 200)
  assert.equal((await poll(changed.headers.get('etag') ?? '')).status, 304)
  await device.feedback(id, 'closed', { finished: 'success' })
})

type End = [execution: string, finished: string, execState: string]
const ends: End[] = [
  ['closed', 'success', 'SUCCEEDED'],
  ['closed', 'none', 'SUCCEEDED'],
  ['closed', 'failure', 'FAILED'],
  ['rejected', 'none', 'REJECTED'],
  ['canceled', 'none', 'CANCELED'],
]
for (const [end, finished, execState] of ends) {
  for (const started of [false, true]) {
    test(`${end} with ${finished} is ${execState}, ${started ? 'after proceeding' : 'at once'}; then it is 410`, async () => {
      const device = await newDdiDevice(api, `end-${end}-${finished}-${started}`)
      const id = await launch(device)
      if (started) await device.feedback(id, 'proceeding')
      assert.equal((await device.feedback(id, end, { finished, details: ['no room', 'left'] })).status, 200)
      const ended = await execution(id)
      assert.equal(ended.execState, execState)
      if (execState === 'FAILED' || execState === 'REJECTED')
        assert.equal(ended.statusDetails.reason, 'no room; left')
      for (const again of [end, 'proceeding', 'closed'])
        assert.equal((await device.feedback(id, again, { finished })).status, 410)
      assert.equal((await device.cancelFeedback(id, 'closed')).status, 410)
      assert.equal((await device.call('GET', `/cancelAction/${id}`)).status, 410)
      assert.equal(await outputOf(id), 'no room\nleft\n')
    })
  }
}

test('progress that is sent twice counts once', async () => {
  const device = await newDdiDevice(api, 'twice')
  const id = await launch(device)
  for (let times = 0; times < 3; times++) await device.feedback(id, 'proceeding', { details: ['one'] })
  await device.feedback(id, 'proceeding', { details: ['two'] })
  assert.equal(await outputOf(id), 'one\ntwo\n')
  await device.feedback(id, 'closed', { finished: 'success' })
})

test('lines that are reported at the same time are all kept', async () => {
  const device = await newDdiDevice(api, 'together')
  const id = await launch(device)
  await device.feedback(id, 'proceeding')
  const lines = Array.from({ length: 8 }, (_, i) => `line ${i}`)
  await Promise.all(lines.map((line) => device.feedback(id, 'proceeding', { details: [line] })))
  assert.deepEqual((await outputOf(id)).trim().split('\n').sort(), lines)
  await device.feedback(id, 'closed', { finished: 'success' })
})

test('a failure that is reported twice ends one attempt, and each attempt can be ended without another word', async () => {
  const device = await newDdiDevice(api, 'attempts')
  const id = await launch(device, 'again')
  const failed = { finished: 'failure', details: ['first'] }
  for (let times = 0; times < 2; times++) {
    assert.equal((await device.feedback(id, 'closed', failed)).status, 200)
    const { execState, attempt } = await execution(id)
    assert.deepEqual([execState, attempt], ['PENDING', 2])
  }
  await waitUntil(
    'the next attempt is offered',
    async () => (await device.links()).deploymentBase === `/deploymentBase/${id}`,
  )
  assert.equal((await device.feedback(id, 'closed', failed)).status, 200)
  assert.equal((await execution(id)).execState, 'PENDING')
  await device.feedback(id, 'closed', { finished: 'failure', details: ['second'] })
  assert.equal((await execution(id)).execState, 'FAILED')
})

test('a failure that is sent again with another time ends one attempt; progress with another time is another one', async () => {
  const device = await newDdiDevice(api, 'times')
  const id = await launch(device, 'again')
  for (const time of ['20261119T010000', '20261119T010001'])
    await device.feedback(id, 'proceeding', { details: ['working'], time })
  assert.equal(await outputOf(id), 'working\nworking\n')
  for (const time of ['20261119T010002', '20261119T010003']) {
    assert.equal((await device.feedback(id, 'closed', { finished: 'failure', time })).status, 200)
    const { execState, attempt } = await execution(id)
    assert.deepEqual([execState, attempt], ['PENDING', 2])
  }
})

for (const [begins, begin] of [
  ['proceeding', (device: DdiDevice, id: number) => device.feedback(id, 'proceeding')],
  ['asking for its files', (device: DdiDevice, id: number) => device.call('GET', `/deploymentBase/${id}`)],
] as const) {
  test(`an attempt that has begun by ${begins} ends with the same words as the one before`, async () => {
    const device = await newDdiDevice(api, `same-words-${begins.length}`)
    const id = await launch(device, 'again')
    for (const execState of ['PENDING', 'FAILED']) {
      let tag = ''
      await waitUntil('the attempt is offered', async () => {
        const { json, headers } = await device.call('GET')
        tag = headers.get('etag') ?? ''
        return json._links.deploymentBase !== undefined
      })
      assert.equal((await begin(device, id)).status, 200)
      assert.equal((await device.feedback(id, 'closed', { finished: 'failure' })).status, 200)
      assert.equal((await execution(id)).execState, execState)
      const polled = await device.call('GET', '', undefined, { 'if-none-match': tag })
      assert.equal(polled.status, 200)
    }
  })
}

test('secrets are masked before details are shortened, also those of several lines', async () => {
  const device = await newDdiDevice(api, 'masked')
  const [long, lines] = ['s'.repeat(40), 'first-line-of-it\nsecond-line-of-it']
  for (const [name, value] of Object.entries({ LONG: long, LINES: lines })) {
    const reply = await api.call('PUT', `/job/api/secrets/${name}`, { body: { value } })
    assert.equal(reply.status, 201, reply.text)
  }
  await putJob('masked', { document: { files: ['app'], long: '${secrets.LONG}', lines: '${secrets.LINES}' } })
  const id = await launch(device, 'masked')
  const reported = async () => (await execution(id)).statusDetails
  const start = 'x'.repeat(990)
  await device.feedback(id, 'proceeding', { details: [start + long] })
  assert.deepEqual(await reported(), { execution: 'proceeding', message: `${start}********` })
  for (const details of [[`a ${lines}`], ['one', ...lines.split('\n')]]) {
    await device.feedback(id, 'proceeding', { details })
    assert.doesNotMatch(JSON.stringify(await reported()), /first|second/)
  }
  const details = [`cannot use ${lines}`, ...lines.split('\n'), start, long]
  await device.feedback(id, 'closed', { finished: 'failure', details })
  const { reason } = await reported()
  assert.equal(reason, `cannot use ********; ********; ${start}`.slice(0, 1000))
})

test('a cancel is offered instead of the deployment; closed confirms it', async () => {
  const device = await newDdiDevice(api, 'stop')
  const id = await launch(device)
  assert.equal((await device.call('GET', `/cancelAction/${id}`)).status, 404)
  await device.feedback(id, 'proceeding')
  assert.equal((await device.cancelFeedback(id, 'closed')).status, 404)
  await api.call('POST', `/job/api/executions/${id}/cancel`)
  const links = await device.links()
  assert.equal(links.cancelAction, `/cancelAction/${id}`)
  assert.equal(links.deploymentBase, undefined)
  assert.equal((await device.call('GET', `/deploymentBase/${id}`)).status, 404)
  const { json } = await device.call('GET', `/cancelAction/${id}`)
  assert.deepEqual(json, { id: String(id), cancelAction: { stopId: String(id) } })
  await device.cancelFeedback(id, 'proceeding', { details: ['stopping'] })
  assert.equal((await execution(id)).execState, 'CANCELING')
  assert.equal((await device.cancelFeedback(id, 'closed', { finished: 'success' })).status, 200)
  assert.equal((await execution(id)).execState, 'CANCELED')
})

test('a cancel that is rejected continues, may be repeated, and the result counts', async () => {
  const device = await newDdiDevice(api, 'goes-on')
  const id = await launch(device)
  await device.feedback(id, 'proceeding')
  for (let times = 0; times < 2; times++) {
    await api.call('POST', `/job/api/executions/${id}/cancel`)
    assert.equal((await execution(id)).execState, 'CANCELING')
    assert.equal((await device.cancelFeedback(id, 'rejected', { details: ['too late'] })).status, 200)
    assert.equal((await execution(id)).execState, 'IN_PROGRESS')
    assert.equal((await device.links()).deploymentBase, `/deploymentBase/${id}`)
  }
  await device.feedback(id, 'closed', { finished: 'success' })
  assert.equal((await execution(id)).execState, 'SUCCEEDED')
  const { json } = await api.call('GET', `/job/api/executions/${id}/history`)
  const events = (json.items ?? json).map(({ event }: { event: string }) => event)
  assert.equal(events.filter((event: string) => event === 'refuse-cancel').length, 2)
})

test('a job without files is REJECTED with words, and the next one is offered', async () => {
  const device = await newDdiDevice(api, 'no-files')
  const without = await launch(device, 'restart')
  const id = await launch(device)
  assert.equal((await device.links()).deploymentBase, `/deploymentBase/${id}`)
  const { execState, statusDetails } = await execution(without)
  assert.equal(execState, 'REJECTED')
  assert.match(statusDetails.reason, /names no files/)
  assert.equal((await device.call('GET', `/deploymentBase/${without}`)).status, 410)
  await device.feedback(id, 'closed', { finished: 'success' })
})

test('configData is merged, replaced and removed as reported attributes, and asked for when something has ended', async () => {
  const device = await newDdiDevice(api, 'config')
  const attributes = async () =>
    (await api.call('GET', `/job/api/devices/${device.deviceId}`)).json.reportedAttributes
  const send = (data: object, mode?: string) => device.call('PUT', '/configData', { mode, data })
  assert.equal((await send({ fw: '2.3', 'hw revision': 'b', group: 'x' })).status, 200)
  assert.deepEqual(await attributes(), { fw: '2.3', hw_revision: 'b', _group: 'x' })
  assert.equal((await device.links()).configData, undefined)
  await send({ fw: '2.4' }, 'merge')
  assert.deepEqual(await attributes(), { fw: '2.4', hw_revision: 'b', _group: 'x' })
  await send({ site: 'lima', fw: '2.4' }, 'replace')
  assert.deepEqual(await attributes(), { fw: '2.4', site: 'lima' })
  await send({ site: '' }, 'remove')
  assert.deepEqual(await attributes(), { fw: '2.4' })
  const id = await launch(device)
  await device.feedback(id, 'closed', { finished: 'success' })
  assert.equal((await device.links()).configData, '/configData')
})

test('an unknown device, a wrong token and a foreign tenant get the same 401 on every route', async () => {
  const device = await newDdiDevice(api, 'mine')
  const neighbor = await newDdiDevice(api, 'neighbor')
  const id = await launch(device)
  const other = await api.newOwner('other')
  const key = other.key
  await api.call('PUT', '/job/api/devices/mine', { key, body: {} })
  const foreign = (await api.call('POST', '/job/api/devices/mine/credential', { key })).json.deviceToken
  const of = (identity: object) => ddiDevice(api.http, { deviceId: 'mine', token: device.token, ...identity })
  const strangers = [
    of({ deviceId: 'nobody' }),
    of({ token: 'x' }),
    of({ token: neighbor.token }),
    of({ token: foreign }),
    of({ tenant: 'other' }),
    of({ tenant: 'none' }),
    of({ tenant: 'Default' }),
    of({ scheme: 'Bearer' }),
    of({ scheme: 'GatewayToken' }),
  ]
  const routes: [string, string][] = [
    ['GET', ''],
    ['PUT', '/configData'],
    ['GET', `/deploymentBase/${id}`],
    ['POST', `/deploymentBase/${id}/feedback`],
    ['GET', `/cancelAction/${id}`],
    ['POST', `/cancelAction/${id}/feedback`],
    ['GET', `/installedBase/${id}`],
  ]
  for (const [method, path] of routes) {
    for (const stranger of strangers) {
      const { status, text } = await stranger.call(method, path)
      assert.deepEqual([status, text], [401, '{"message":"Invalid device or token."}'])
    }
  }
  // The same device id, of the other owner: it is another device.
  const theirs = of({ token: foreign, tenant: 'other' })
  assert.equal((await theirs.call('GET')).status, 200)
  assert.equal((await theirs.call('GET', `/deploymentBase/${id}`)).status, 404)
  assert.equal((await theirs.feedback(id, 'closed')).status, 404)
  assert.equal((await neighbor.call('GET', `/deploymentBase/${id}`)).status, 404)
  assert.equal((await neighbor.feedback(id, 'closed', { finished: 'success' })).status, 404)
  assert.equal((await execution(id)).execState, 'PENDING')
  assert.equal((await of({ tenant: 'default' }).call('GET')).status, 200)
  await device.feedback(id, 'closed', { finished: 'success' })
})

test('a gateway token makes devices with its prefix on their first poll, and speaks for those only', async () => {
  const enroll = async (more: object) =>
    (
      await api.call('POST', '/job/api/enrollments', {
        body: { maxUses: 2, expiresInSeconds: 3600, ...more },
      })
    ).json
  const gateway = await enroll({ deviceIdPrefix: 'gw-' })
  const by = (deviceId: string, token = gateway.enrollmentToken) =>
    ddiDevice(api.http, { deviceId, token, scheme: 'GatewayToken' })
  assert.equal((await by('gw-1').call('PUT', '/configData', { data: {} })).status, 401)
  assert.equal((await by('gw-1').call('GET')).status, 200)
  assert.equal((await by('gw-1').call('PUT', '/configData', { data: { fw: '1' } })).status, 200)
  const id = await launch(by('gw-1'))
  assert.equal((await by('gw-1').feedback(id, 'closed', { finished: 'success' })).status, 200)
  assert.equal((await by('other-1').call('GET')).status, 401)
  // One that has a token of its own is not the gateway's.
  await newDdiDevice(api, 'gw-own')
  assert.equal((await by('gw-own').call('GET')).status, 401)
  assert.equal((await by('gw-2').call('GET')).status, 200)
  assert.equal((await by('gw-3').call('GET')).status, 401)
  const open = await enroll({})
  assert.equal((await by('gw-4', open.enrollmentToken).call('GET')).status, 401)
  await api.call('DELETE', `/job/api/enrollments/${gateway.enrollmentId}`)
  assert.equal((await by('gw-1').call('GET')).status, 401)
})

// rauc-hawkbit-updater is not packaged in Debian: these are its requests as its src/hawkbit-client.c builds them.
test('the requests of rauc-hawkbit-updater, recorded from its source, lead to the end', async () => {
  const device = await newDdiDevice(api, 'rauc')
  const id = await launch(device)
  const sending = {
    accept: 'application/json;charset=UTF-8',
    'content-type': 'application/json;charset=UTF-8',
  }
  const { json: root } = await device.call('GET', '', undefined, { accept: sending.accept })
  assert.match(root.config.polling.sleep, /^\d\d:\d\d:\d\d$/)
  const time = '20261118T120000'
  const identified = await device.call(
    'PUT',
    '/configData',
    {
      time,
      status: { result: { finished: 'success' }, execution: 'closed' },
      data: { product: 'gate', mac: '00:24' },
    },
    sending,
  )
  assert.equal(identified.status, 200, identified.text)
  const { href } = root._links.deploymentBase
  const headers = { authorization: `TargetToken ${device.token}`, accept: sending.accept }
  const deployment = (await (await fetch(href, { headers })).json()) as Deployment
  const [chunk] = deployment.deployment.chunks
  const [artifact] = chunk?.artifacts ?? []
  // It takes texts for these, and an integer for the size.
  for (const text of [deployment.id, chunk?.version, chunk?.name, artifact?.hashes.sha1])
    assert.equal(typeof text, 'string')
  assert.equal(artifact?.size, content.length)
  const bundle = await fetch(artifact?._links.download.href ?? '', {
    headers: { ...headers, accept: 'application/octet-stream' },
  })
  assert.equal(bundle.status, 200)
  const say = (detail: string, finished: string, execution: string) =>
    device.call(
      'POST',
      `/deploymentBase/${deployment.id}/feedback`,
      { id: deployment.id, time, status: { result: { finished }, execution, details: [detail] } },
      sending,
    )
  for (const detail of ['Download complete. 1.00 MB/s', 'File checksum OK.'])
    assert.equal((await say(detail, 'none', 'proceeding')).status, 200)
  assert.equal((await say('Software bundle installed successfully.', 'success', 'closed')).status, 200)
  assert.equal((await execution(id)).execState, 'SUCCEEDED')
})

type Deployment = {
  id: string
  deployment: {
    chunks: {
      version: string
      name: string
      artifacts: { size: number; hashes: { sha1: string }; _links: { download: { href: string } } }[]
    }[]
  }
}

test('a device sleeps 30 s while something is held back from it, and longer once it has ended', async () => {
  const device = await newDdiDevice(api, 'held')
  const sleep = async () => (await device.call('GET')).json.config.polling.sleep
  assert.equal(await sleep(), '00:05:00')
  const made = await api.call('POST', '/job/api/runs', {
    body: {
      jobName: 'update',
      targets: { deviceIds: ['held'] },
      rollout: { waves: [{ size: '100%' }] },
      approval: true,
    },
  })
  assert.equal(made.status, 201, made.text)
  assert.equal((await device.links()).deploymentBase, undefined)
  assert.equal(await sleep(), '00:00:30')
  await api.call('POST', `/job/api/runs/${made.json.runId}/cancel`)
  await waitUntil('the run has ended', async () => (await sleep()) === '00:05:00')
})

test('the next gateway token speaks for the devices of the one before, and for no others', async () => {
  const enroll = async (more: object = {}, key?: string) =>
    (
      await api.call('POST', '/job/api/enrollments', {
        ...(key && { key }),
        body: { maxUses: 10, expiresInSeconds: 3600, deviceIdPrefix: 'next-', ...more },
      })
    ).json
  const by = (deviceId: string, { enrollmentToken: token }: { enrollmentToken: string }) =>
    ddiDevice(api.http, { deviceId, token, scheme: 'GatewayToken' })
  const status = async (deviceId: string, enrollment: { enrollmentToken: string }) =>
    (await by(deviceId, enrollment).call('GET')).status
  const before = await enroll()
  for (const deviceId of ['next-1', 'next-2', 'next-3']) assert.equal(await status(deviceId, before), 200)
  await api.call('DELETE', `/job/api/enrollments/${before.enrollmentId}`)
  assert.equal(await status('next-1', before), 401)
  const after = await enroll()
  assert.equal(await status('next-1', after), 200)
  assert.equal((await by('next-1', after).call('PUT', '/configData', { data: { fw: '1' } })).status, 200)
  // Its prefix does not fit, or it is another owner's.
  assert.equal(await status('next-1', await enroll({ deviceIdPrefix: 'next-2' })), 401)
  assert.equal(await status('next-1', await enroll({}, (await api.newOwner('gateways')).key)), 401)
  // A person has made its credential since.
  await api.call('POST', '/job/api/devices/next-2/credential')
  assert.equal(await status('next-2', after), 401)
  // It has fetched its own token, with the same enrollment.
  const headers = { authorization: `Bearer ${after.enrollmentToken}`, 'content-type': 'application/json' }
  const own = await fetch(`${api.http}/things/next-own/enroll`, { method: 'POST', headers, body: '{}' })
  assert.ok(own.status < 300, await own.text())
  assert.equal(await status('next-own', after), 401)
  // Revoked by a person: no gateway makes it another one.
  await api.call('DELETE', '/job/api/devices/next-3/credential')
  assert.equal(await status('next-3', after), 401)
})

// Zephyr: as its subsys/mgmt/hawkbit/hawkbit.c reads the answers and builds the requests, in versions without
// CONFIG_HAWKBIT_TENANT. These poll /default and look for /DEFAULT in the link.
test('the requests of Zephyr, recorded from its source, lead to the end', async () => {
  const name = 'zephyr-board-0123456789abcdef'
  const device = await newDdiDevice(api, name)
  await putJob('zephyr', { document: { files: ['app'], extension: 'bin' } })
  const id = await launch(device, 'zephyr')
  const root = `${api.http}/default/controller/v1/${name}`
  const headers = {
    authorization: `TargetToken ${device.token}`,
    'content-type': 'application/json;charset=UTF-8',
  }
  const base = (await (await fetch(root, { headers })).json()) as { _links: Record<string, { href: string }> }
  const found = /deploymentBase\/.*/.exec(base._links.deploymentBase?.href ?? '')?.[0] ?? ''
  const answer = await fetch(`${root}/${found}`, { headers })
  assert.ok(Number(answer.headers.get('content-length')) <= 1100)
  const { deployment, id: action } = (await answer.json()) as ZephyrDeployment
  assert.equal(deployment.chunks.length, 1)
  const [chunk] = deployment.chunks
  assert.equal(chunk?.part, 'bApp')
  assert.equal(chunk?.artifacts.length, 1)
  const [artifact] = chunk?.artifacts ?? []
  assert.equal(artifact?.hashes.sha256, hashOf('sha256'))
  const href = artifact?._links['download-http'].href ?? ''
  const path = href.slice(href.indexOf('/DEFAULT/controller/v1'))
  assert.ok(path.startsWith('/DEFAULT/controller/v1/') && path.length <= 199, path)
  const download = await fetch(api.http + path, { headers })
  assert.equal(await download.text(), content.toString())
  const part = await fetch(api.http + path, { headers: { ...headers, range: 'bytes=2-4' } })
  assert.deepEqual([part.status, await part.text()], [206, content.subarray(2, 5).toString()])
  const status = { result: { finished: 'success' }, execution: 'closed' }
  const body = JSON.stringify({ id: action, status })
  const closed = await fetch(`${root}/deploymentBase/${action}/feedback`, { method: 'POST', headers, body })
  assert.equal(closed.status, 200)
  assert.equal((await execution(id)).execState, 'SUCCEEDED')
})

type ZephyrDeployment = {
  id: string
  deployment: {
    chunks: {
      part: string
      artifacts: { hashes: { sha256: string }; _links: { 'download-http': { href: string } } }[]
    }[]
  }
}

test('the link of a download holds for its file and version only, and has a bounded length', async () => {
  const deviceId = `long-${'x'.repeat(120)}`
  const device = await newDdiDevice(api, deviceId)
  const id = await launch(device)
  const { json } = await device.call('GET', `/deploymentBase/${id}`)
  const { href } = json.deployment.chunks[0].artifacts[0]._links.download
  const path = href.slice(api.http.length)
  assert.match(path, /^\/DEFAULT\/controller\/v1\/-\/softwaremodules\/2\.4\/artifacts\/app\.swu\?/)
  assert.ok(path.length <= 199)
  assert.equal((await fetch(href)).status, 200)
  assert.equal((await fetch(href, { method: 'HEAD' })).status, 200)
  for (const other of [
    href.replace('app.swu', 'other.swu'),
    href.replace('/2.4/', '/2.5/'),
    href.replace('owner=1', 'owner=2'),
  ])
    assert.equal((await fetch(other)).status, 403, other)
  assert.equal((await fetch(href.split('?')[0] ?? '')).status, 400)
  await device.feedback(id, 'closed', { finished: 'success' })
})

test('other methods are 405, unknown ids 404, and large bodies 413', async () => {
  const device = await newDdiDevice(api, 'edges')
  assert.equal((await device.call('DELETE')).status, 405)
  for (const id of ['0', 'x', '999999', '$next', '99999999999999999999']) {
    for (const kind of ['deploymentBase', 'cancelAction', 'installedBase'])
      assert.equal((await device.call('GET', `/${kind}/${id}`)).status, 404, `${kind} ${id}`)
    const status = { execution: 'closed', result: { finished: 'success' } }
    assert.equal((await device.call('POST', `/deploymentBase/${id}/feedback`, { status })).status, 404)
  }
  assert.equal((await device.call('PUT', '/configData', 'x'.repeat(200_000))).status, 413)
})
