import assert from 'node:assert/strict'
import { newDevice } from '@jobcast/testkit/call-device'
import { chaosTest, test } from './browser-test.ts'
import { openOwner, openSignedIn } from './open-console.ts'

const server = await openOwner()

test('a job is created, with errors in its document shown by line and column', async (t) => {
  const page = await openSignedIn(t, server, '/jobs', { expected: [/404/] })
  await page.getByRole('link', { name: 'Create the first one' }).click()
  await page.getByLabel('Name', { exact: true }).fill('update')
  await page.getByLabel('Description').fill('Updates the kiosk')
  const document = page.getByLabel('Document')
  await document.fill('{\n  "handler": "update",\n  "args": [1 2]\n}')
  await page.getByText('Line 3, column 14: A comma or ] is missing.').waitFor()
  const make = page.getByRole('button', { name: 'Create job' })
  assert.ok(await make.isDisabled())
  await page.getByRole('button', { name: 'Go to the error' }).click()
  await page.keyboard.type(',')
  await page.getByRole('button', { name: 'Format' }).click()
  assert.equal(await document.inputValue(), '{\n  "handler": "update",\n  "args": [\n    1,\n    2\n  ]\n}')
  await page.getByLabel('Times out after').fill('soon')
  await page.getByText('Use a format such as 90 s, 5 min, 2 h or 3 d.').waitFor()
  await page.getByLabel('Times out after').fill('1 h 30 min')
  await page.getByLabel('Retry automatically').check()
  await page.getByLabel('Maximum retries').fill('3')
  await page.getByLabel('timed out').uncheck()
  await make.click()
  await page.waitForURL(`${server.http}/jobs/update`)
  const { json } = await server.call('GET', '/job/api/jobs/update')
  assert.deepEqual(json.document, { handler: 'update', args: [1, 2] })
  assert.deepEqual([json.timeoutSeconds, json.expireAfterSeconds], [5400, null])
  assert.deepEqual(json.retry, { max: 3, backoffSeconds: 10, on: ['FAILED'] })
})

chaosTest('a job is changed, shows its runs while they continue, and is deleted', async (t) => {
  await server.call('PUT', '/job/api/jobs/restart', { body: { description: 'Old', timeoutSeconds: 60 } })
  const device = await newDevice(server, 'a')
  const page = await openSignedIn(t, server, '/jobs', { expected: [/404/, /409/] })
  await page.getByRole('link', { name: 'restart', exact: true }).click()
  await page.getByText('Not triggered yet').waitFor()
  const save = page.getByRole('button', { name: 'Save' })
  assert.ok(await save.isDisabled())
  await page.getByLabel('Description').fill('New')
  await page.getByLabel('Times out after').fill('')
  await page.getByLabel('Deadline').fill('2 d')
  await save.click()
  await page.getByText('Saved.').waitFor()
  const { json } = await server.call('GET', '/job/api/jobs/restart')
  assert.deepEqual([json.description, json.timeoutSeconds, json.deadlineSeconds], ['New', null, 172_800])
  const link = page.getByRole('main').getByRole('link', { name: 'Trigger' })
  assert.equal(await link.getAttribute('href'), '/trigger?jobName=restart')

  const [{ jobExecutionId }] = (await server.trigger('restart', ['a'])).json
  await page.getByText('1 waiting').waitFor()
  await device.startNext()
  await device.update(jobExecutionId, 'SUCCEEDED')
  await page.getByText('1 succeeded').waitFor()

  const schedule = { jobName: 'restart', targets: { deviceIds: ['a'] }, when: { cron: '0 3 * * *' } }
  await server.call('PUT', '/job/api/schedules/nightly', { body: schedule })
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Delete job' }).click()
  await dialog.getByRole('button', { name: 'Delete job' }).click()
  await dialog.getByText('The resource is in use: by the schedule nightly').waitFor()
  await dialog.getByRole('button', { name: 'Delete anyway' }).click()
  await page.waitForURL(`${server.http}/jobs`)
  await page.getByRole('link', { name: 'restart', exact: true }).waitFor({ state: 'detached' })
  assert.equal((await server.call('GET', '/job/api/jobs/restart')).status, 404)
})

chaosTest('an edit of something else keeps the default rollout and the approval of a job', async (t) => {
  const rollout = {
    waves: [{ size: 5, where: 'tag=canary' }, { size: '100%' }],
    next: { succeededPercent: 95 },
  }
  await server.call('PUT', '/job/api/jobs/careful', { body: { rollout, approval: true } })
  const page = await openSignedIn(t, server, '/jobs/careful', { expected: [/40[03]/] })
  const field = page.getByRole('textbox', { name: 'Default rollout' })
  await field.waitFor()
  assert.deepEqual(JSON.parse(await field.inputValue()), rollout)
  assert.ok(await page.getByLabel('Runs need approval').isChecked())
  const save = async (said: string) => {
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(said).waitFor()
    return (await server.call('GET', '/job/api/jobs/careful')).json
  }
  await page.getByLabel('Description').fill('Careful')
  const kept = await save('Saved.')
  assert.deepEqual([kept.description, kept.rollout, kept.approval], ['Careful', rollout, true])

  await field.fill('{ "stop": [{ "on": ["FAILED"] }] }')
  const refused = await save('rollout.stop[0] must have either percent or count.')
  assert.deepEqual(refused.rollout, rollout)
  await field.fill('')
  await page.getByLabel('Runs need approval').uncheck()
  // The key has no APPROVE.
  const asked = await save('would need fewer approvals than before')
  assert.deepEqual([asked.rollout, asked.approval], [rollout, true])
  await page.getByLabel('Runs need approval').check()
  const removed = await save('Saved.')
  assert.deepEqual([removed.rollout, removed.approval], [null, true])
})

chaosTest('an existing job is not overwritten', async (t) => {
  await server.call('PUT', '/job/api/jobs/taken', { body: { description: 'Mine' } })
  const page = await openSignedIn(t, server, '/jobs?new')
  await page.getByLabel('Name', { exact: true }).fill('taken')
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.getByText('A job named taken already exists.').waitFor()
  assert.equal((await server.call('GET', '/job/api/jobs/taken')).json.description, 'Mine')
})

chaosTest('unsaved edits of a job are kept while another screen is shown', async (t) => {
  await server.call('PUT', '/job/api/jobs/edited', { body: { description: 'Old' } })
  const page = await openSignedIn(t, server, '/jobs/edited')
  await page.getByLabel('Description').fill('Half a sentence')
  await page.getByRole('link', { name: 'Devices', exact: true }).click()
  await page.getByText('New device').waitFor()
  await page.goBack()
  await page.getByLabel('Description').waitFor()
  assert.equal(await page.getByLabel('Description').inputValue(), 'Half a sentence')
  await page.getByRole('button', { name: 'Discard changes' }).click()
  assert.equal(await page.getByLabel('Description').inputValue(), 'Old')
})
