// axe on the screens where things are set up, empty and full, in both themes, wide and narrow.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import type { Page } from 'playwright-core'
import { test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openSharedServer, openSignedIn } from './open-shared-server.ts'

const looks = [
  { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const

type Look = (page: Page) => Promise<unknown>
type Screen = { path: string; ready: string; open?: Look }

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click()

const empty: Screen[] = [
  { path: '/devices', ready: 'No devices yet' },
  { path: '/jobs', ready: 'No jobs yet' },
  { path: '/enrollments', ready: 'No enrolments yet' },
  { path: '/webhooks', ready: 'No webhooks yet' },
]
const full: Screen[] = [
  { path: '/devices', ready: 'kiosk', open: press('New device') },
  {
    path: '/devices/kiosk',
    ready: '1 failed, 2 waiting',
    open: async (page) => {
      await press('Rotate token')(page)
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate token' }).click()
      await page.getByText('On the device').waitFor()
    },
  },
  { path: '/jobs', ready: 'restart' },
  { path: '/jobs/restart', ready: 'Run 1' },
  { path: '/jobs?new', ready: 'Document', open: (page) => page.getByLabel('Try again').check() },
  { path: '/enrollments', ready: 'open', open: press('New enrolment') },
  { path: '/keys', ready: 'this session', open: press('New key') },
  { path: '/webhooks', ready: 'ops', open: press('New webhook') },
  { path: '/webhooks/ops', ready: 'device.created', open: press('Send all again since…') },
]

async function check(t: TestContext, page: Page, http: string, screens: Screen[]): Promise<void> {
  for (const { path, ready, open } of screens) {
    await page.goto(http + path)
    await page.locator('main').getByText(ready).first().waitFor()
    assert.deepEqual(await findViolations(page), [], path)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(wide <= 0, `${path} is ${wide} pixels too wide`)
    if (open === undefined) continue
    await open(page)
    assert.deepEqual(await findViolations(page), [], `${path}, opened`)
  }
  t.diagnostic(`${screens.length} screens`)
}

const bare = await openSharedServer()
const busy = await openSharedServer({ webhookAllow: ['127.0.0.1'] })
await busy.call('PUT', '/job/api/jobs/restart', { body: { description: 'Restarts', timeoutSeconds: 60 } })
await busy.call('PUT', '/job/api/webhooks/ops', { body: { url: 'http://127.0.0.1:1/hook' } })
await busy.call('POST', '/job/api/enrollments', { body: { tags: ['kiosk'] } })
const device = await newDevice(busy, 'kiosk')
await busy.call('PUT', '/job/api/devices/kiosk', { body: { tags: ['kiosk', 'berlin'] } })
const [{ jobExecutionId }] = (await busy.trigger('restart', ['kiosk'])).json
await device.startNext()
await device.update(jobExecutionId, 'FAILED')
for (let time = 0; time < 2; time++) await busy.trigger('restart', ['kiosk'])

for (const look of looks) {
  const title = `${look.colorScheme}, ${look.viewport.width} pixels`
  test(`axe finds nothing where there is nothing yet (${title})`, async (t) => {
    await check(t, await openSignedIn(t, bare, '/devices', look), bare.http, empty)
  })
  test(`axe finds nothing on the screens, nor on their dialogs (${title})`, async (t) => {
    await check(t, await openSignedIn(t, busy, '/devices', look), busy.http, full)
  })
}
