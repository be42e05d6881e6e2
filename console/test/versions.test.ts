// Parameters of jobs, their versions, and the way back to one.

import assert from 'node:assert/strict'
import { newDevice } from '@jobcast/testkit/call-device'
import { test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openOwner, openSharedServer, openSignedIn, openWithKey } from './open-console.ts'

const server = await openOwner()
const put = (path: string, body: object) => server.call('PUT', `/job/api/${path}`, { body })

const narrow = { colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const

test('versions of a job are compared side by side, say what used them, and one is restored', async (t) => {
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
})

test('whoever edits a job that another has changed meanwhile is told, and decides', async (t) => {
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
})

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
  await dialog.getByRole('button', { name: 'Roll back 2 devices' }).click()
  await page.getByText('a rollback of').waitFor()
  await page.getByRole('link', { name: `run ${runId}` }).waitFor()
  await page.getByRole('link', { name: 'version 1' }).waitFor()
})
