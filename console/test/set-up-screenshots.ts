// Pictures of what is set up: devices, a device, jobs, enrollments, keys, webhooks. Not a test:
// node console/test/set-up-screenshots.ts [folder] [how many devices …]

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { startFleet } from '@jobcast/sim'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import type { Page } from 'playwright-core'
import { openBrowser } from './open-browser.ts'
import { openOwnServer, signIn } from './open-console.ts'

const [, , folder = 'screenshots', ...sizes] = process.argv
mkdirSync(folder, { recursive: true })

const hourMs = 3_600_000

const looks = [
  { name: '1440-light', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: '390-dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const

/** How far behind the clock of the server is, so that there is a past. */
let ago = 0

type Shot = { name: string; path: string; prepare?: (page: Page) => Promise<unknown> }

const press = (name: string) => (page: Page) =>
  page.getByRole('button', { name, exact: true }).first().click()

const emptyShots: Shot[] = ['devices', 'jobs', 'enrollments', 'keys', 'webhooks'].map((name) => ({
  name,
  path: `/${name}`,
}))

const fullShots: Shot[] = [
  { name: 'devices', path: '/devices' },
  { name: 'devices-new', path: '/devices', prepare: press('New device') },
  { name: 'device', path: '/devices/kiosk-3' },
  {
    name: 'device-week-token',
    path: '/devices/kiosk-1?presence=week',
    prepare: async (page) => {
      await press('Rotate token')(page)
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate token' }).click()
      await page.getByText('On the device').waitFor()
    },
  },
  { name: 'jobs', path: '/jobs' },
  { name: 'job', path: '/jobs/update-firmware' },
  { name: 'job-new', path: '/jobs?new' },
  { name: 'enrollments', path: '/enrollments' },
  {
    name: 'enrollments-token',
    path: '/enrollments',
    prepare: async (page) => {
      await press('New enrollment')(page)
      await page.getByLabel('Device ID prefix').fill('kiosk-')
      await page.getByLabel('Tags').fill('berlin,')
      await page.screenshot({ path: join(folder, 'enrollment-form.png') })
      await press('Create enrollment')(page)
      await page.getByText('On each device').waitFor()
    },
  },
  { name: 'keys', path: '/keys?show=all' },
  { name: 'keys-new', path: '/keys', prepare: press('New key') },
  { name: 'keys-revoke', path: '/keys', prepare: press('Revoke') },
  { name: 'webhooks', path: '/webhooks' },
  { name: 'webhook', path: '/webhooks/ops' },
  { name: 'webhook-edit', path: '/webhooks/ops', prepare: press('Edit') },
]

for (const size of sizes.length > 0 ? sizes.map(Number) : [0, 4]) {
  test(`${size} devices`, { timeout: 600_000 }, async (t) => {
    const server = await openOwnServer(t, {
      webhookAllow: ['127.0.0.1'],
      now: () => Date.now() - ago,
    })
    if (size > 0) await fill(t, server, size)
    for (const { name: look, ...options } of looks) {
      const context = await (await openBrowser()).newContext({ ...options, deviceScaleFactor: 1 })
      const page = await context.newPage()
      await signIn(page, server)
      for (const { name, path, prepare } of size === 0 ? emptyShots : fullShots) {
        await page.goto(server.http + path)
        await page.locator('main h1').waitFor()
        await page.waitForLoadState('load')
        await page.waitForTimeout(700) // a picture, not a test
        await prepare?.(page)
        await page.waitForTimeout(200)
        await page.screenshot({ path: join(folder, `${name}-${size}-${look}.png`), fullPage: true })
      }
      await context.close()
    }
  })
}

/** A small place with a past. */
async function fill(t: TestContext, server: OpenServer, size: number): Promise<void> {
  ago = 150 * hourMs
  const put = (path: string, body: object) => server.call('PUT', `/job/api/${path}`, { body })
  await put('jobs/restart', {
    description: 'Restarts the kiosk application',
    document: { handler: 'restart', args: ['kiosk-app'] },
  })
  await put('jobs/update-firmware', {
    description: 'Fetches the image, checks it and boots into it. Not during opening hours.',
    document: { handler: 'update', args: ['--channel', 'stable'], verify: { sha256: '9f86d081884c7d65' } },
    expireAfterSeconds: 172_800,
    timeoutSeconds: 900,
    retry: { max: 3, backoffSeconds: 30 },
  })
  await put('jobs/collect-logs', { description: 'Packs the logs of the last day' })
  const receiver = await WebhookReceiver.open(t)
  receiver.answer = ({ event }) => (event.type === 'execution.failed' ? 500 : 204)
  await put('webhooks/ops', { url: receiver.url, eventTypes: ['execution.*', 'run.finished'] })
  await put('webhooks/chat', {
    url: 'https://example.com/hook/chat',
    eventTypes: ['run.finished'],
    jobName: 'restart',
  })
  await server.call('POST', '/job/api/webhooks/chat/pause')
  await server.call('POST', '/job/api/enrollments', {
    body: {
      name: 'Kiosks, Berlin',
      maxUses: 200,
      expiresInSeconds: 604_800,
      tags: ['kiosk', 'berlin'],
      deviceIdPrefix: 'kiosk-',
    },
  })
  await server.call('POST', '/job/api/enrollments', { body: {} })
  await server.newKey(['TRIGGER', 'READ'], { keyName: 'ci' })
  const { keyId } = await server.newKey(['READ'], { keyName: 'dashboard' })
  await server.call('DELETE', `/job/api/keys/${keyId}`)

  const devices: { deviceId: string; deviceToken: string }[] = []
  for (let from = 0; from < size; from += 200) {
    await Promise.all(
      Array.from({ length: Math.min(200, size - from) }, async (_, index) => {
        const path = `devices/kiosk-${from + index + 1}`
        await put(path, { deviceName: `Kiosk ${from + index + 1}, Berlin`, tags: ['kiosk', 'berlin'] })
        devices.push((await server.call('POST', `/job/api/${path}/credential`)).json)
      }),
    )
  }
  const few = devices.slice(0, 4)
  const stays = [
    [148, 104],
    [100, 64],
    [63, 23],
    [22, 10],
    [9, 0.2],
  ] as const
  for (const [from, to] of stays) {
    ago = from * hourMs
    const fleet = startFleet({
      mqtt: server.server.mqtt,
      devices: few,
      pattern: { workSeconds: { from: 0, to: 0.1 }, failureRate: 0.15, rejectRate: 0.03 },
    })
    await fleet.whenUp()
    for (let run = 0; run < 8; run++) {
      const runId = (
        await server.trigger(
          run % 3 ? 'restart' : 'update-firmware',
          few.map(({ deviceId }) => deviceId),
        )
      ).headers
        .get('location')
        ?.split('/')
        .at(-1)
      await server.call('GET', `/job/api/runs/${runId}?wait=3`)
    }
    ago = to * hourMs
    await fleet.stop()
    await new Promise((resolve) => setTimeout(resolve, 1500)) // until it is written that they left
  }
  ago = 0
  const slow = startFleet({
    mqtt: server.server.mqtt,
    devices: few,
    pattern: { workSeconds: { from: 500, to: 600 } },
  })
  t.after(() => slow.stop())
  await slow.whenUp()
  for (const job of ['update-firmware', 'collect-logs', 'restart', 'restart'])
    await server.trigger(
      job,
      few.map(({ deviceId }) => deviceId),
    )
}

after(() => console.log(`The pictures are in ${folder}.`))
