// The twelve daily jobs of an operator, each from the fleet screen to its effect on devices or the API, with the number of
// clicks and fields that it takes.

import assert from 'node:assert/strict'
import { after, type TestContext } from 'node:test'
import { afterAllFiles } from '@jobcast/testkit/after-all-files'
import type { Json, MqttLine } from '@jobcast/testkit/mqtt-line'
import { SimulatedDevice, succeed } from '@jobcast/testkit/simulated-device'
import { chaosTest, test } from './browser-test.ts'
import { openOperator, openSharedServer, openSignedIn } from './open-console.ts'
import { Operator } from './operator.ts'

const shared = await openSharedServer()
const server = await openOperator()
const { ownerId } = server
/** Another person. */
const colleague = await shared.newKey(['READ', 'TRIGGER', 'MANAGE'], { ownerId, keyName: 'colleague' })

const devices: SimulatedDevice[] = []
afterAllFiles(() => {
  for (const device of devices) device.stop()
})

const put = async (path: string, body: object = {}, key = server.adminKey) => {
  const reply = await server.call('PUT', `/job/api/${path}`, { key, body })
  assert.ok(reply.status < 300, reply.text)
}

type Carry = (line: MqttLine, execution: Json) => Promise<void>

/** Devices that fail until they are repaired. */
const broken = new Set<string>()

/** Connected over MQTT, until the last test has ended. */
async function connect(
  deviceId: string,
  content: object = {},
  carryOut: Carry = reportEnd(deviceId),
): Promise<void> {
  await put(`devices/${deviceId}`, content)
  const { json } = await server.call('POST', `/job/api/devices/${deviceId}/credential`)
  const device = new SimulatedDevice({
    deviceId,
    token: json.deviceToken,
    address: async () => shared.server.mqtt,
    carryOut,
  })
  devices.push(device)
  void device.live()
}

function reportEnd(deviceId: string): Carry {
  return async (line, execution) => {
    if (!broken.has(deviceId)) return succeed(line, execution)
    const { jobId, executionNumber } = execution
    const statusDetails = { reason: 'disk full' }
    await line.request(`${jobId}/update`, { status: 'FAILED', executionNumber, statusDetails })
  }
}

const finished = async (runId: number) => {
  for (;;) {
    const { json } = await server.call('GET', `/job/api/runs/${runId}?wait=10`)
    if (json.finished) return
  }
}

async function trigger(jobName: string, deviceIds: string[]): Promise<number> {
  const reply = await server.trigger(jobName, deviceIds)
  assert.equal(reply.status, 201, reply.text)
  return Number(reply.headers.get('location')?.split('/').at(-1))
}

type Row = { job: string; clicks: number; fields: number }
const rows: Row[] = []
after(() => rows.length > 0 && console.table(rows))

type AtMost = { clicks: number; fields: number }

/** From the fleet screen on. */
async function work(
  t: TestContext,
  job: string,
  atMost: AtMost,
  body: (operator: Operator) => Promise<void>,
): Promise<void> {
  const page = await openSignedIn(t, server, '/keys/sessions', { expected: [/404/] })
  const operator = new Operator(page)
  await page.getByRole('navigation').getByRole('link', { name: 'Fleet' }).click()
  await page.getByRole('heading', { name: 'Runs now' }).waitFor()
  await body(operator)
  const { clicks, fields } = operator
  rows.push({ job, clicks, fields })
  assert.ok(clicks <= atMost.clicks, `${job}: ${clicks} clicks`)
  assert.ok(fields <= atMost.fields, `${job}: ${fields} fields`)
}

chaosTest('an operator triggers a job on a device', async (t) => {
  await put('jobs/first-job')
  await connect('first-1')
  await work(t, 'first trigger', { clicks: 4, fields: 2 }, async (operator) => {
    const { page } = operator
    await operator.follow('Trigger a job')
    await operator.fill('Job', 'first-job')
    await operator.click(page.getByRole('option', { name: /^first-job/ }))
    await operator.fill('Search devices', 'first-1')
    await operator.click(page.getByRole('checkbox', { name: /first-1/ }))
    await operator.press('Trigger first-job on 1 device')
    await page.getByRole('link', { name: 'Succeeded 1' }).waitFor()
  })
})

chaosTest('an operator sees why a device fails', async (t) => {
  await put('jobs/why-job')
  broken.add('why-1')
  await connect('why-1')
  await finished(await trigger('why-job', ['why-1']))
  await work(t, 'why a device fails', { clicks: 2, fields: 0 }, async (operator) => {
    const { page } = operator
    await operator.follow(/^why-job on 1 device/)
    await page.getByText('disk full × 1').waitFor()
    await operator.click(page.getByRole('table').getByRole('cell', { name: 'failed' }))
    await page.getByText('Failed: disk full').waitFor()
  })
})

chaosTest('an operator retries what failed', async (t) => {
  await put('jobs/retried-job')
  broken.add('retried-1')
  for (const deviceId of ['retried-1', 'retried-2']) await connect(deviceId)
  await finished(await trigger('retried-job', ['retried-1', 'retried-2']))
  broken.clear()
  await work(t, 'retry the failed', { clicks: 3, fields: 0 }, async (operator) => {
    await operator.follow(/^retried-job on 2 devices/)
    await operator.press('Retry…')
    await operator.press('Retry retried-job on 1 device', operator.dialog)
    await operator.page.getByText(/a retry of/).waitFor()
    await operator.page.getByRole('link', { name: 'Succeeded 1' }).waitFor()
  })
})

test('an operator starts a canary that stops, looks at it, and resumes', async (t) => {
  await put('jobs/canary-job')
  for (const name of ['canary-1', 'canary-2', 'canary-3']) await connect(name, { tags: ['canary'] })
  for (const name of ['canary-1', 'canary-2', 'canary-3']) broken.add(name)
  await work(t, 'canary stops, look, resume', { clicks: 9, fields: 5 }, async (operator) => {
    const { page } = operator
    await operator.follow('Trigger a job')
    await operator.fill('Job', 'canary-job')
    await operator.click(page.getByRole('option', { name: /^canary-job/ }))
    await operator.click(page.getByText('Selector', { exact: true }))
    await operator.fill('Selector', 'tag=canary')
    await operator.click(page.getByLabel('Roll out in steps'))
    await operator.fill('Canary devices', '1')
    await operator.fill('Pause at failures, in percent', '10')
    await operator.press('Trigger canary-job on 3 devices')
    await page
      .getByText(/^Paused/)
      .first()
      .waitFor()
    broken.clear()

    await operator.openScreen('Fleet')
    const item = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem')
    const canary = item.filter({ hasText: 'canary-job' })
    await canary.getByText('disk full').waitFor()
    await operator.follow('Review', canary)
    await page.getByText('disk full × 1').waitFor()
    await operator.press('Resume')
    await operator.press('Resume', operator.dialog)
    await page.getByRole('link', { name: 'Succeeded 2' }).waitFor()
  })
})

chaosTest('an operator approves the run of a colleague', async (t) => {
  await put('jobs/approved-job')
  await connect('approved-1')
  const body = { jobName: 'approved-job', targets: { deviceIds: ['approved-1'] }, approval: true }
  const { json } = await server.call('POST', '/job/api/runs', { key: colleague.apiKey, body })
  await work(t, 'approve', { clicks: 3, fields: 0 }, async (operator) => {
    await operator.openScreen('Approvals')
    await operator.press('Approve')
    await operator.press('Approve', operator.dialog)
    await finished(json.runId)
  })
})

chaosTest('an operator schedules a job for every night in the time of the devices', async (t) => {
  await put('jobs/nightly-job')
  await put('devices/nightly-1', { tags: ['nightly'], timeZone: 'America/Lima' })
  await work(t, 'nightly in the devices’ own time', { clicks: 6, fields: 8 }, async (operator) => {
    const { page } = operator
    await operator.openScreen('Windows')
    await operator.press('New window')
    await operator.fill('Name', 'nights')
    await operator.fill('Opens at', '0 2 * * *')
    await operator.fill('Stays open for', '3 h')
    await operator.press('Create window')
    await page.getByRole('heading', { name: 'nights' }).waitFor()
    await operator.openScreen('Schedules')
    await operator.follow(/New schedule|Create the first one/)
    await operator.fill('Name', 'nightly')
    await operator.choose('Job', 'nightly-job')
    await operator.fill('Selector', 'tag=nightly')
    await operator.fill('Pattern', '0 0 * * *')
    await operator.choose('Window', 'nights')
    await page.getByText('America/Lima').first().waitFor()
    await operator.press('Create schedule')
    await page.waitForURL(/\/schedules\/nightly$/)
    await page.getByText(/02:00 their time/).waitFor()
  })
})

chaosTest('an operator creates a job that uses a secret', async (t) => {
  const received = Promise.withResolvers<Json>()
  await connect('secret-1', {}, async (line, execution) => {
    received.resolve(execution.jobDocument)
    await succeed(line, execution)
  })
  await work(t, 'job with a secret', { clicks: 9, fields: 5 }, async (operator) => {
    const { page } = operator
    await operator.openScreen('Secrets')
    await operator.press('New secret')
    await operator.fill('Name', 'UPLOAD_TOKEN', operator.dialog)
    await operator.fill('Value', 's3cret-value', operator.dialog)
    await operator.press('Create secret', operator.dialog)
    await page.getByText('UPLOAD_TOKEN').first().waitFor()
    await operator.openScreen('Jobs')
    await operator.follow(/New job|Create the first one/)
    await operator.fill('Name', 'secret-job')
    await operator.fill('Document', '{ "token": "${secrets.UPLOAD_TOKEN}" }')
    await operator.press('Create job')
    await page.waitForURL(/\/jobs\/secret-job$/)
    await operator.follow('Trigger', page.getByRole('main'))
    await operator.fill('Search devices', 'secret-1')
    await operator.click(page.getByRole('checkbox', { name: /secret-1/ }))
    await operator.press('Trigger secret-job on 1 device')
    assert.deepEqual(await received.promise, { token: 's3cret-value' })
  })
})

chaosTest('an operator compares two versions and rolls back', async (t) => {
  await connect('rolled-1')
  await put('jobs/rolled-job', { document: { fw: '2.10' } })
  await put('jobs/rolled-job', { document: { fw: '2.11' } })
  const runId = await trigger('rolled-job', ['rolled-1'])
  await finished(runId)
  await work(t, 'compare and roll back', { clicks: 5, fields: 0 }, async (operator) => {
    const { page } = operator
    await operator.follow(/^rolled-job on 1 device/)
    await operator.follow('version 2')
    await page.getByRole('region', { name: 'Version 1 and version 2' }).getByText('"2.11"').waitFor()
    operator.clicks++
    await page.goBack()
    await operator.press('Roll back…')
    await operator.press('Roll back 1 device', operator.dialog)
    await page.getByText('a rollback of').waitFor()
    await page.getByRole('link', { name: 'Succeeded 1' }).waitFor()
  })
})

chaosTest('an operator tags all devices in Berlin with old firmware', async (t) => {
  for (const [deviceId, site, fw] of [
    ['tagged-1', 'berlin', '2.9.3'],
    ['tagged-2', 'berlin', '2.10.1'],
    ['tagged-3', 'lima', '2.9.3'],
  ] as const)
    await put(`devices/${deviceId}`, { attributes: { site, fw } })
  await work(t, 'tag all in Berlin with fw < 2.10', { clicks: 4, fields: 2 }, async (operator) => {
    const { page } = operator
    await operator.openScreen('Devices')
    await operator.fill('Filter', 'site=berlin and fw < 2.10')
    await page.getByText('1 device matches').waitFor()
    await operator.click(page.getByLabel('Select all that match'))
    await operator.press('Tags and attributes…')
    await operator.fill('Add tags', 'outdated,', operator.dialog)
    await operator.press('Change 1 device', operator.dialog)
    await page.getByRole('table').getByText('outdated').waitFor()
    const { json } = await server.call('GET', '/job/api/devices?tag=outdated')
    assert.deepEqual(
      json.items.map(({ deviceId }: Json) => deviceId),
      ['tagged-1'],
    )
  })
})

chaosTest('an operator revokes a leaked key with all that was created with it', async (t) => {
  const leaked = await shared.newKey(['READ', 'MANAGE'], { ownerId, keyName: 'leaked' })
  const body = { keyName: 'offspring', scopes: ['READ'] }
  const { json: child } = await server.call('POST', '/job/api/keys', { key: leaked.apiKey, body })
  await work(t, 'revoke a leaked key', { clicks: 4, fields: 0 }, async (operator) => {
    const { page } = operator
    await operator.openScreen('Keys')
    const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'leaked', exact: true }) })
    await operator.press('Revoke', row)
    await operator.click(operator.dialog.getByLabel('Also revoke the keys and enrollments created with it'))
    await operator.press('Revoke', operator.dialog)
    await row.waitFor({ state: 'detached' })
    for (const key of [leaked.apiKey, child.apiKey]) {
      assert.equal((await server.call('GET', '/job/api/jobs', { key })).status, 403)
    }
  })
})

chaosTest('an operator imports 500 devices', async (t) => {
  const lines = Array.from({ length: 500 }, (_, index) => `imported-${index},imported;kiosk,berlin`)
  const table = `deviceId,tags,site\n${lines.join('\n')}\n`
  await work(t, 'import 500', { clicks: 4, fields: 0 }, async (operator) => {
    await operator.openScreen('Devices')
    await operator.press('Import CSV')
    operator.clicks++
    const file = { name: 'devices.csv', mimeType: 'text/csv', buffer: Buffer.from(table) }
    await operator.dialog.getByLabel('CSV file').setInputFiles(file)
    await operator.dialog.getByText('Would create 500').waitFor()
    await operator.press('Import 500 devices', operator.dialog)
    await operator.dialog.getByText('500 created').waitFor()
    const { json } = await server.call('POST', '/job/api/devices/count', { body: { where: 'tag=imported' } })
    assert.equal(json.total, 500)
  })
})

chaosTest('an operator sees what a colleague did last week', async (t) => {
  await put('groups/of-colleague', { where: 'tag=kiosk' }, colleague.apiKey)
  await put('groups/of-operator', { where: 'tag=kiosk' })
  await work(t, 'what did X do last week', { clicks: 2, fields: 1 }, async (operator) => {
    const { page } = operator
    await operator.openScreen('Audit')
    await page.getByRole('link', { name: 'group:of-operator' }).waitFor()
    await operator.follow('colleague', page.getByRole('table'))
    await operator.fill('After', new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 16))
    await page.getByRole('link', { name: 'group:of-colleague' }).waitFor()
    await page.getByRole('link', { name: 'group:of-operator' }).waitFor({ state: 'detached' })
  })
})
