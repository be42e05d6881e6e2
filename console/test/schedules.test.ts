// When: windows, schedules and the calendar.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openOwner, openSharedServer, openSignedIn, openWithKey } from './open-console.ts'

const server = await openOwner()
const put = (path: string, body: object) => server.call('PUT', `/job/api/${path}`, { body })
await put('devices/d1', { tags: ['till'] })

const narrow = { colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const
/** So that times are the same on every machine. */
const berlin = { timezoneId: 'Europe/Berlin' }

const readerKey = async () => {
  const { ownerId } = (await server.call('GET', '/job/api/keys/self')).json
  return (await (await openSharedServer()).newKey(['READ'], { ownerId })).apiKey
}

async function checkLook(page: Page): Promise<void> {
  assert.deepEqual(await findViolations(page), [])
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.ok(excess <= 0, `${excess} pixels too wide`)
}

test('a window is made, shows its next openings in a zone that it names, is used by a job, and is deleted', async (t) => {
  const page = await openSignedIn(t, server, '/windows', { ...berlin, expected: [/40\d/] })
  await page.getByText('No windows yet').waitFor()
  await page.getByRole('button', { name: 'New window' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('nights')
  await dialog.getByLabel('Opens at').fill('0 2 * *')
  await dialog.getByText('Must have five fields, as 0 2 * * *.').waitFor()
  const create = dialog.getByRole('button', { name: 'Create window' })
  assert.ok(await create.isDisabled())
  await dialog.getByLabel('Opens at').fill('0 27 * * *')
  await create.click()
  await dialog.getByText(/\(J-507\)/).waitFor()
  assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
  await dialog.getByLabel('Opens at').fill('0 2 * * *')
  await dialog.getByLabel('Stays open for').fill('3 h')
  await dialog.getByLabel('Nothing new for the last').fill('4 h')
  await dialog.getByText('Must be shorter than the window.').waitFor()
  await dialog.getByLabel('Nothing new for the last').fill('30 min')
  await dialog.getByLabel('Closed on').fill('2030-12-24/2031-01-02')
  await page.keyboard.press('Enter')
  await create.click()
  await page.waitForURL(`${server.http}/windows/nights`)
  const { json } = await server.call('GET', '/job/api/windows/nights')
  assert.deepEqual(
    [json.cron, json.durationMinutes, json.cutoffMinutes, json.timeZone, json.except],
    ['0 2 * * *', 180, 30, 'device', ['2030-12-24/2031-01-02']],
  )
  await page.getByRole('heading', { name: 'Next openings, in Europe/Berlin time' }).waitFor()
  const opening = page.getByRole('listitem').filter({ hasText: /02:00 to 05:00/ })
  await opening
    .first()
    .getByText(/nothing new from 04:30/)
    .waitFor()
  await page.getByLabel('For devices in').fill('America/Lima')
  await page.getByRole('heading', { name: 'Next openings, in America/Lima time' }).waitFor()
  // The same instant for whoever looks.
  await opening
    .first()
    .getByText(/0[89]:00 Europe\/Berlin/)
    .waitFor()
  await checkLook(page)

  await put('jobs/restart', { window: 'nights' })
  await page.reload()
  await page.getByRole('link', { name: 'restart' }).waitFor()
  const remove = async () => {
    await page.getByRole('button', { name: 'Delete window' }).click()
    await dialog.getByRole('button', { name: 'Delete window' }).click()
  }
  await remove()
  await dialog.getByText('J-315').waitFor()
  await dialog.getByRole('button', { name: 'Back' }).click()
  // An edit of something else keeps the window of a job.
  await page.getByRole('link', { name: 'restart' }).click()
  await page.getByLabel('Description').fill('Restarts it')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  assert.equal((await server.call('GET', '/job/api/jobs/restart')).json.window, 'nights')
  await page.getByLabel('Window').selectOption('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await page.goto(`${server.http}/windows/nights`)
  await page.getByText('no job').waitFor()
  await remove()
  await page.waitForURL(`${server.http}/windows`)
})

test('a run is triggered in a window, or at any time with a note', async (t) => {
  await put('windows/mornings', { cron: '0 6 * * *', durationMinutes: 60, timeZone: 'UTC' })
  await put('jobs/reboot', { window: 'mornings' })
  await put('windows/evenings', { cron: '0 20 * * *', durationMinutes: 60, timeZone: 'UTC' })
  const page = await openSignedIn(t, server, '/trigger?jobName=reboot&deviceId=d1', berlin)
  const window = page.getByLabel('Window', { exact: true })
  await page.getByText('As the job says: mornings').waitFor({ state: 'attached' })
  await window.selectOption('evenings')
  const call = page.getByRole('region', { name: 'The same call' })
  await call.getByText('"window":"evenings"').waitFor()
  const trigger = page.getByRole('button', { name: /^Trigger/ })
  await page.getByLabel('Offer it at any time').check()
  await page.getByText('To ignore windows, say why.').waitFor()
  assert.ok(await trigger.isDisabled())
  await page.getByLabel('Note').fill('Ticket 4711')
  await call.getByText('"ignoreWindows":true').waitFor()
  await checkLook(page)
  await trigger.filter({ hasText: 'Trigger reboot on 1 device' }).click()
  await page.getByText('Note: Ticket 4711').waitFor()

  const inWindow = await server.call('POST', '/job/api/runs', {
    body: { jobName: 'reboot', targets: { deviceIds: ['d1'] }, window: 'evenings' },
  })
  const reader = await openWithKey(t, server, await readerKey(), {
    ...narrow,
    path: `/runs/${inWindow.json.runId}`,
  })
  await reader.getByRole('link', { name: 'evenings' }).waitFor()
  await checkLook(reader)
  await reader.goto(`${server.http}/windows`)
  await reader.getByRole('link', { name: 'mornings' }).click()
  await reader.getByText('Next openings, in UTC time').waitFor()
  await checkLook(reader)
  assert.equal(await reader.getByRole('button', { name: /Edit|Delete|New/ }).count(), 0)
})
