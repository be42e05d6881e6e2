// Parameters of jobs, their versions, and the way back to one.

import assert from 'node:assert/strict'
import { newAuthor } from '@jobcast/testkit/author'
import { newDevice } from '@jobcast/testkit/call-device'
import { chaosTest, test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openOwner, openSharedServer, openSignedIn, openWithKey } from './open-console.ts'

const server = await openOwner()
const put = (path: string, body: object) => server.call('PUT', `/job/api/${path}`, { body })

const narrow = { colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const

test('versions of a job are compared side by side, show their users, and one is restored', async (t) => {
  await put('jobs/update', { document: { handler: 'update', args: ['2.4.0'] }, timeoutSeconds: 60 })
  await put('devices/v1', {})
  const run = (await server.trigger('update', ['v1'])).headers.get('location')?.split('/').at(-1)
  await put('jobs/update', { document: { handler: 'update', args: ['2.4.1'] }, timeoutSeconds: 60 })
  await put('jobs/update', { document: { handler: 'update', args: ['2.4.1', 'now'] } })
  const page = await openSignedIn(t, server, '/jobs/update')
  await page.getByRole('link', { name: 'version 3' }).click()
  await page.waitForURL(/\/jobs\/update\/versions$/)
  const diff = page.getByRole('region', { name: 'Version 2 and version 3' })
  await diff.getByText('"now"').waitFor()
  assert.deepEqual(await diff.locator('ins').allTextContents(), [
    '      "2.4.1",',
    '      "now"',
    '  "timeoutSeconds": null,',
  ])
  const row = (version: number) =>
    page.getByRole('listitem').filter({ has: page.getByText(`Version ${version}`, { exact: true }) })
  await row(1).getByLabel('before').check()
  await row(2).getByLabel('after').check()
  await page.waitForURL(/from=1&to=2/)
  const other = page.getByRole('region', { name: 'Version 1 and version 2' })
  await other.getByText('"2.4.1"').waitFor()
  assert.deepEqual(await other.locator('del').allTextContents(), ['      "2.4.0"'])
  assert.deepEqual(await findViolations(page), [])
  await row(1).getByText('Used by').click()
  const used = row(1).getByRole('link', { name: `run ${run}` })
  assert.equal(await used.getAttribute('href'), `/runs/${run}`)
  await row(2).getByText('Used by').click()
  await row(2).getByText('No run.').waitFor()
  await row(1).getByRole('button', { name: 'Restore' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restore version 1' }).click()
  await row(4).getByText('current').waitFor()
  const { json } = await server.call('GET', '/job/api/jobs/update')
  assert.deepEqual([json.version, json.document.args, json.timeoutSeconds], [4, ['2.4.0'], 60])
  // An older one can be triggered.
  const trigger = row(2).getByRole('link', { name: 'Trigger version 2' })
  assert.equal(await trigger.getAttribute('href'), '/trigger?jobName=update&version=2')

  const { ownerId } = (await server.call('GET', '/job/api/keys/self')).json
  const { apiKey } = await (await openSharedServer()).newKey(['READ'], { ownerId })
  const reader = await openWithKey(t, server, apiKey, {
    ...narrow,
    path: '/jobs/update/versions?from=1&to=3',
  })
  await reader.getByText('"now"').waitFor()
  assert.equal(await reader.getByRole('button', { name: 'Restore' }).count(), 0)
  assert.deepEqual(await findViolations(reader), [])
  const excess = await reader.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.ok(excess <= 0, `${excess} pixels too wide`)
  const line = await reader.locator('.side-by-side-diff .ins').first().boundingBox()
  assert.ok(line && line.width > 200, `a line is ${line?.width} pixels wide`)
})

chaosTest(
  'a conflict is shown to a person who edits a job that has been modified, and the person decides',
  async (t) => {
    await put('jobs/shared', { description: 'First' })
    const page = await openSignedIn(t, server, '/jobs/shared', { expected: [/412/] })
    await page.getByLabel('Description').fill('Mine')
    await put('jobs/shared', { description: 'Theirs' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It is version 2 by now.').waitFor()
    const description = async () => (await server.call('GET', '/job/api/jobs/shared')).json.description
    assert.equal(await description(), 'Theirs')
    await page.getByRole('button', { name: 'Keep my changes' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    assert.equal(await description(), 'Mine')
  },
)

test('a run is rolled back to the version before, on the devices that it lists', async (t) => {
  await put('jobs/firmware', { document: { fw: '1' } })
  await put('jobs/firmware', { document: { fw: '2' } })
  const devices = await Promise.all(['b1', 'b2', 'b3'].map((name) => newDevice(server, name)))
  const reply = await server.trigger('firmware', ['b1', 'b2', 'b3'])
  const runId = reply.headers.get('location')?.split('/').at(-1)
  const page = await openSignedIn(t, server, `/runs/${runId}`)
  await page.getByRole('link', { name: 'version 2' }).waitFor()
  const button = page.getByRole('button', { name: 'Roll back…' })
  assert.equal(await button.count(), 0)
  for (const [index, status] of ['SUCCEEDED', 'FAILED'].entries()) {
    const { json } = (await devices[index]?.startNext()) ?? {}
    await devices[index]?.update(Number(json.execution.jobId), status)
  }
  await button.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('listitem').filter({ hasText: 'b1 succeeded' }).waitFor()
  assert.equal(await dialog.getByRole('listitem').count(), 2)
  assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
  await dialog.getByRole('button', { name: 'Roll back 3 devices' }).click()
  await page.getByText('a rollback of').waitFor()
  await page.getByRole('link', { name: `run ${runId}` }).waitFor()
  await page.getByRole('link', { name: 'version 1' }).waitFor()
})

test('a trigger has fields for the parameters of the job, shows errors at the fields, and hides secrets', async (t) => {
  const properties = {
    version: { type: 'string', pattern: '^[0-9.]+$', description: 'What to install' },
    count: { type: 'integer', minimum: 1, default: 3 },
    mode: { type: 'string', enum: ['fast', 'safe'], default: 'safe' },
    isForced: { type: 'boolean', title: 'Force it' },
    ports: { type: 'array', items: { type: 'integer' } },
    token: { type: 'string', writeOnly: true },
  }
  const page = await openSignedIn(t, server, '/jobs?new', { expected: [/40\d/] })
  await page.getByLabel('Name', { exact: true }).fill('install')
  await page.getByLabel('Document').fill('{ "fw": "${params.version}", "token": "${params.tokn}" }')
  const schema = page.getByLabel('Parameters')
  await page.getByText('${params.version} is not a parameter of the job.').waitFor()
  await schema.fill('{ "type": "object", "properties": { "version": { "type": "strin" } } }')
  await page.getByText('parameters.properties.version.type must be one of').waitFor()
  await schema.fill(JSON.stringify({ type: 'object', properties, required: ['version', 'token'] }))
  await page.getByText('${params.tokn} is not a parameter of the job.').waitFor()
  await page.getByLabel('Document').fill('{ "fw": "${params.version}", "token": "${params.token}" }')
  await page.getByText('is not a parameter of the job.').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.waitForURL(`${server.http}/jobs/install`)

  const device = await newDevice(server, 'p1')
  await page.getByRole('main').getByRole('link', { name: 'Trigger' }).click()
  await page.waitForURL(/jobName=install/)
  await page.goto(`${server.http}/trigger?jobName=install&deviceId=p1`)
  const form = page.getByRole('group', { name: 'Parameters' })
  await form.getByLabel('version').waitFor()
  await page.getByText('Fill in the parameters first.').waitFor()
  const button = page.getByRole('button', { name: /^Trigger/ })
  assert.ok(await button.isDisabled())
  await form.getByLabel('version').fill('new')
  await form.getByText('Must match the pattern ^[0-9.]+$.').waitFor()
  await form.getByLabel('version').fill('2.4.1')
  await form.getByLabel('token').focus()
  await form.getByLabel('count').focus()
  await form.getByText('Is required.').waitFor()
  await form.getByLabel('token').fill('s3cret-value')
  assert.equal(await form.getByLabel('token').getAttribute('type'), 'password')
  await form.getByLabel('count').fill('0')
  await form.getByText('Must be at least 1.').waitFor()
  await form.getByLabel('count').fill('5')
  await form.getByLabel('mode').selectOption('fast')
  await form.getByLabel('Force it').selectOption('true')
  await form.getByLabel('ports').fill('80\n443')
  assert.deepEqual(await findViolations(page), [])
  const shown = {
    version: '2.4.1',
    count: 5,
    mode: 'fast',
    isForced: true,
    ports: [80, 443],
    token: '********',
  }
  const call = page.getByRole('region', { name: 'The same call' })
  await call.getByText(JSON.stringify(shown)).waitFor()
  const sent = page.waitForRequest((request) => request.url().endsWith('/job/api/runs'))
  await button.filter({ hasText: 'Trigger install on 1 device' }).click()
  assert.deepEqual(Object.keys((await sent).postDataJSON()), ['planId'])
  const values = page.getByRole('region', { name: 'Parameters' })
  await values.getByText('2.4.1').waitFor()
  await values.getByText('********').waitFor()
  assert.doesNotMatch(await page.content(), /s3cret-value/)
  assert.deepEqual(await findViolations(page), [])

  const { json } = await device.startNext()
  assert.deepEqual(json.execution.parameters, { ...shown, token: 's3cret-value' })
  await page.goto(`${server.http}/executions/${json.execution.jobId}`)
  await page.getByText('"fw": "2.4.1"').waitFor()
  await page.getByText('"token": "********"').waitFor()
})

chaosTest('a signed job names the keys that have signed it', async (t) => {
  const document = { handler: 'signed' }
  const envelope = newAuthor().sign({ jobName: 'signed', version: 1, document })
  assert.equal((await put('jobs/signed', { document, signatures: [envelope] })).status, 201)
  const page = await openSignedIn(t, server, '/jobs/signed')
  const signatures = page.getByRole('region', { name: 'Signatures' })
  await signatures.getByText('Version 1 is signed with the key').waitFor()
  await signatures.getByText('a hint', { exact: true }).waitFor()
  assert.deepEqual(await findViolations(page), [])
})
