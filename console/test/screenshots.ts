// Pictures of the screens, to look at: node console/test/screenshots.ts [folder] [how many devices …]. Not a test.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { startFleet } from '@jobcast/sim'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { openBrowser } from './open-browser.ts'
import { openOwnServer, signIn } from './open-console.ts'

const [, , folder = 'screenshots', ...sizes] = process.argv
mkdirSync(folder, { recursive: true })

const looks = [
  { name: '1440-light', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: '1440-dark', viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  { name: '390-light', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: '390-dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const

for (const size of sizes.length > 0 ? sizes.map(Number) : [0, 3, 10_000]) {
  test(`${size} devices`, { timeout: 600_000 }, async (t) => {
    const server = await openOwnServer(t)
    await fill(t, server, size)
    for (const { name, ...look } of looks) {
      const context = await (await openBrowser()).newContext({ ...look, deviceScaleFactor: 2 })
      const page = await context.newPage()
      await page.goto(`${server.http}/sign-in`)
      await page.screenshot({ path: join(folder, `sign-in-${name}.png`) })
      await signIn(page, server)
      await page
        .getByRole('heading', { name: size > 0 ? 'Devices by execution' : 'No devices yet' })
        .waitFor()
      if (size > 0) {
        await page.waitForFunction(
          () => document.querySelector('canvas')?.style.height ?? document.querySelector('.fleet-groups'),
        )
      }
      await page.screenshot({ path: join(folder, `fleet-${size}-${name}.png`), fullPage: true })
      await context.close()
    }
  })
}

/** A fleet with a past: most of it well, some failures, some devices away. */
async function fill(t: TestContext, server: OpenServer, size: number): Promise<void> {
  if (size === 0) return
  const width = String(size).length
  const deviceIds = Array.from(
    { length: size },
    (_, index) => `kiosk-${String(index + 1).padStart(width, '0')}`,
  )
  for (const jobName of ['restart', 'update-firmware', 'collect-logs']) {
    await server.call('PUT', `/job/api/jobs/${jobName}`, { body: {} })
  }
  const devices: { deviceId: string; deviceToken: string }[] = []
  for (let from = 0; from < size; from += 200) {
    const part = deviceIds.slice(from, from + 200).map(async (deviceId) => {
      const path = `/job/api/devices/${deviceId}`
      await server.call('PUT', path, { body: { tags: ['kiosk'] } })
      devices.push((await server.call('POST', `${path}/credential`)).json)
    })
    await Promise.all(part)
  }
  const present = devices.filter((_, index) => index % 16 !== 7 && index !== 2)
  const pattern = { workSeconds: { from: 0, to: 1 }, failureRate: 0.02, rejectRate: 0.002 }
  const quick = startFleet({ mqtt: server.server.mqtt, devices: present, pattern })
  t.after(() => quick.stop())
  await quick.whenUp()
  const runOf = async (jobName: string, ids: string[]) =>
    (await server.trigger(jobName, ids)).headers.get('location')?.split('/').at(-1)
  const awaited = async (runId: string | undefined, share: number) => {
    for (;;) {
      const { json } = await server.call('GET', `/job/api/runs/${runId}`)
      const open = json.counts.PENDING + json.counts.IN_PROGRESS
      if (open <= json.total * share + 2) return // two of the first devices are away
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  await awaited(await runOf('update-firmware', deviceIds), 0.07)
  await awaited(await runOf('collect-logs', deviceIds.slice(0, Math.ceil(size / 30))), 0.2)
  await quick.stop()
  const slow = startFleet({
    mqtt: server.server.mqtt,
    devices: present.slice(0, Math.ceil(size * 0.9)),
    pattern: { workSeconds: { from: 20, to: 600 } },
  })
  t.after(() => slow.stop())
  await slow.whenUp()
  await runOf('restart', deviceIds.slice(0, Math.ceil(size / 3)))
  await new Promise((resolve) => setTimeout(resolve, 3000))
}

after(() => console.log(`The pictures are in ${folder}.`))
