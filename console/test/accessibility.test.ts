// axe on every screen, empty and full, and on their dialogs, in both themes, wide, narrow and at 200 % zoom; and nothing is
// wider than the window. `npm test` looks at each screen once, at every second one in the other theme; `npm run test:chaos` at
// all in all of them.

import assert from 'node:assert/strict'
import { type DeviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { testSize } from '@jobcast/testkit/test-size'
import type { Page } from 'playwright-core'
import { test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openPage } from './open-browser.ts'
import { go, openOperator, openOwner, openSharedServer, openSignedIn } from './open-console.ts'

const looks = [
  { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const

/** What a browser makes of a window of 1440 pixels at 200 %. */
const zoomed = { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 } as const

const isEachInAll = testSize('looks', { test: 1, chaos: 2 }) > 1

type Operator = Awaited<ReturnType<typeof openOperator>>

type Screen = {
  path: string
  /** A text that it shows when it is complete. */
  ready: string
  /** What else it can show. `within` is what is new then. */
  open?: Opened
}
type Opened = { within: string; show: (page: Page) => Promise<unknown> }

const dialog = (button: string): Opened => ({
  within: 'dialog[open]',
  show: (page) => page.getByRole('button', { name: button, exact: true }).click(),
})

const empty: Screen[] = [
  { path: '/', ready: 'No devices yet' },
  { path: '/trigger', ready: 'No jobs yet' },
  { path: '/runs', ready: 'No runs yet' },
  { path: '/executions', ready: 'No executions yet' },
  { path: '/stats', ready: 'No executions were launched in this range' },
  { path: '/devices', ready: 'No devices yet' },
  { path: '/groups', ready: 'No groups yet' },
  { path: '/calendar', ready: 'No schedules yet' },
  { path: '/schedules', ready: 'No schedules yet' },
  { path: '/windows', ready: 'No windows yet' },
  { path: '/jobs', ready: 'No jobs yet' },
  { path: '/enrollments', ready: 'No enrollments yet' },
  { path: '/webhooks', ready: 'No webhooks yet' },
  { path: '/secrets', ready: 'No secrets yet' },
  { path: '/files', ready: 'No files yet' },
]

const full = (runId: number, jobExecutionId: number): Screen[] => [
  { path: '/', ready: '1 failed, 1 waiting' },
  { path: '/?wall=on', ready: 'Leave wall mode' },
  {
    path: '/trigger?jobName=restart&deviceId=kiosk&deviceId=nobody',
    ready: 'not found',
    open: {
      within: '.trigger-form',
      show: async (page) => {
        await page.getByRole('combobox', { name: 'Job' }).click()
        await page.getByRole('option').first().waitFor()
      },
    },
  },
  { path: '/runs', ready: 'restart' },
  {
    path: `/runs/${runId}`,
    ready: '1 failed, 1 waiting',
    open: { within: '.time-chart', show: (page) => page.locator('.time-chart canvas').waitFor() },
  },
  {
    path: '/executions',
    ready: 'failed',
    open: { within: '.states-filter', show: (page) => page.getByLabel('State:').click() },
  },
  {
    path: '/stats',
    ready: 'By job',
    open: { within: '.time-chart', show: (page) => page.locator('.time-chart canvas').nth(2).waitFor() },
  },
  { path: `/executions/${jobExecutionId}`, ready: 'inverse' },
  { path: '/devices', ready: 'kiosk', open: dialog('New device') },
  {
    path: '/devices/kiosk',
    ready: '1 failed, 2 waiting',
    open: {
      within: 'main',
      show: async (page) => {
        await page.getByRole('button', { name: 'Rotate token', exact: true }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Rotate token' }).click()
        await page.getByText('On the device').waitFor()
      },
    },
  },
  { path: '/groups', ready: 'kiosks', open: dialog('New group') },
  { path: '/groups/kiosks', ready: '1 device:' },
  { path: '/jobs', ready: 'restart' },
  { path: '/trigger?jobName=restart&where=all', ready: '2 devices selected' },
  { path: '/devices?tag=kiosk', ready: 'kiosk', open: dialog('Import CSV') },
  { path: '/jobs/restart', ready: `Run ${runId}` },
  {
    path: '/jobs?new',
    ready: 'Document',
    open: { within: 'form', show: (page) => page.getByLabel('Retry automatically').check() },
  },
  { path: '/enrollments', ready: 'open', open: dialog('New enrollment') },
  { path: '/devices?where=tag%3D', ready: 'Character 5', open: dialog('Save view') },
  { path: '/keys', ready: 'this session', open: dialog('New key') },
  { path: '/keys/sessions', ready: 'this session', open: dialog('End') },
  { path: '/webhooks', ready: 'ops', open: dialog('New webhook') },
  { path: '/bridges', ready: 'No bridges' },
  { path: '/webhooks/ops', ready: 'device.created', open: dialog('Resend all since…') },
  { path: '/schedules', ready: 'nightly' },
  { path: '/schedules/nightly', ready: 'every day at 03:00' },
  {
    path: '/schedules?new',
    ready: 'Pattern',
    open: { within: 'form', show: (page) => page.getByLabel('Roll out in steps').check() },
  },
  { path: '/windows', ready: 'nights', open: dialog('New window') },
  { path: '/windows/nights', ready: 'Next openings', open: dialog('Edit') },
  { path: '/calendar', ready: 'nightly' },
  { path: '/jobs/restart/versions', ready: 'From version 1 to 2', open: dialog('Restore') },
  { path: '/secrets', ready: 'UPLOAD_TOKEN', open: dialog('New secret') },
  { path: '/files', ready: 'firmware', open: dialog('Upload a file') },
  { path: '/files/firmware', ready: '1.0' },
  { path: '/approvals', ready: 'Ticket 4711', open: dialog('Approve') },
  {
    path: '/audit',
    ready: 'run.created',
    open: {
      within: 'dialog[open]',
      show: (page) => page.getByRole('button', { name: 'Show entry' }).first().click(),
    },
  },
]

async function check(page: Page, screens: Screen[]): Promise<void> {
  for (const { path, ready, open } of screens) {
    await go(page, path)
    await page.locator('main').getByText(ready).filter({ visible: true }).first().waitFor()
    assert.deepEqual(await findViolations(page, 'html', { withColours: true }), [], path)
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(excess <= 0, `${path} is ${excess} pixels too wide`)
    if (open === undefined) continue
    await open.show(page)
    assert.deepEqual(await findViolations(page, open.within, { withColours: true }), [], `${path}, opened`)
  }
}

/** One of everything: a failed execution with output in all colours, some that wait, a webhook that cannot deliver. */
async function fill(owner: Operator): Promise<Screen[]> {
  await owner.call('PUT', '/job/api/webhooks/ops', { body: { url: 'http://127.0.0.1:1/hook' } })
  await owner.call('PUT', '/job/api/jobs/restart', { body: { description: 'Restarts' } })
  const job = { description: 'Restarts it', document: { a: 1 }, timeoutSeconds: 60 }
  await owner.call('PUT', '/job/api/jobs/restart', { body: job })
  await owner.call('PUT', '/job/api/groups/kiosks', { body: { where: 'tag=kiosk' } })
  await owner.call('POST', '/job/api/enrollments', { body: { tags: ['kiosk'] } })
  await newDevice(owner, 'other')
  const device = await newDevice(owner, 'kiosk')
  await owner.call('PUT', '/job/api/devices/kiosk', { body: { tags: ['kiosk', 'berlin'] } })
  const reply = await owner.trigger('restart', ['kiosk', 'other'])
  const jobExecutionId = reply.json[0].jobExecutionId
  await failWithColours(device, jobExecutionId)
  for (let time = 0; time < 2; time++) await owner.trigger('restart', ['kiosk'])
  await fillPlans(owner)
  return full(Number(reply.headers.get('location')?.split('/').at(-1)), jobExecutionId)
}

/** What is due later, or awaits somebody. */
async function fillPlans(owner: Operator): Promise<void> {
  await owner.call('PUT', '/job/api/windows/nights', { body: { cron: '0 1 * * *', durationMinutes: 240 } })
  const schedule = { jobName: 'restart', targets: { where: 'tag=kiosk' }, when: { cron: '0 3 * * *' } }
  await owner.call('PUT', '/job/api/schedules/nightly', { body: { ...schedule, window: 'nights' } })
  await owner.call('PUT', '/job/api/secrets/UPLOAD_TOKEN', { body: { value: 's3cret-value' } })
  await owner.call('PUT', '/job/api/files/firmware/1.0', {
    rawBody: 'content',
    headers: { 'content-type': 'application/octet-stream' },
  })
  const { newKey } = await openSharedServer()
  const { apiKey } = await newKey(['READ', 'TRIGGER'], { ownerId: owner.ownerId, keyName: 'colleague' })
  const run = { jobName: 'restart', targets: { deviceIds: ['other'] }, approval: true, note: 'Ticket 4711' }
  await owner.call('POST', '/job/api/runs', { key: apiKey, body: run })
}

async function failWithColours(device: DeviceCalls, jobExecutionId: number): Promise<void> {
  await device.startNext()
  const colours = Array.from(
    { length: 8 },
    (_, index) => `\x1b[3${index}mfront\x1b[0m \x1b[4${index}mback\x1b[0m \x1b[9${index}mbright\x1b[0m`,
  )
  await device.output(jobExecutionId, 0, `${colours.join('\n')}\n\x1b[2mdim\x1b[0m \x1b[7minverse\x1b[0m\n`)
  await device.update(jobExecutionId, 'FAILED', { statusDetails: { reason: 'disk full' } })
}

const zoomedLooks = looks.map(({ colorScheme }) => ({ ...zoomed, colorScheme }))

for (const [number, look] of [...looks, ...(isEachInAll ? zoomedLooks : [])].entries()) {
  const isLookedAt = (_: Screen, index: number) => isEachInAll || index % looks.length === number
  const zoom = 'deviceScaleFactor' in look ? ' at 200 %' : ''
  const title = `${look.colorScheme}, ${look.viewport.width} pixels${zoom}`

  test(`axe finds nothing on the sign-in (${title})`, async (t) => {
    const { http } = await openSharedServer()
    const page = await openPage(t, look)
    await page.goto(http)
    await page.getByLabel('API key').waitFor()
    assert.deepEqual(await findViolations(page, 'html', { withColours: true }), [])
  })

  test(`axe finds nothing on empty screens (${title})`, async (t) => {
    await check(await openSignedIn(t, await openOwner(), '/keys', look), empty.filter(isLookedAt))
  })

  test(`axe finds nothing on the screens, nor on their dialogs (${title})`, async (t) => {
    const owner = await openOperator()
    const screens = await fill(owner)
    await check(await openSignedIn(t, owner, '/keys', look), screens.filter(isLookedAt))
  })
}
