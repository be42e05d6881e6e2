// Screenshots of all screens, to look at: node console/test/screenshots.ts [folder] [how many devices …]. Not a test.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type ExampleRuns, fillExampleFleet } from './example-fleet.ts'
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

const lists = [
  ...[
    'trigger',
    'runs',
    'approvals',
    'calendar',
    'executions',
    'stats',
    'devices',
    'groups',
    'jobs',
    'schedules',
  ],
  ...['secrets', 'files', 'windows', 'webhooks', 'bridges', 'enrollments', 'keys', 'audit'],
]

/** Names of pictures with the addresses of screens. */
function screensOf(runs: ExampleRuns | undefined): Record<string, string> {
  const empty = Object.fromEntries([['fleet', '/'], ...lists.map((name) => [name, `/${name}`])])
  if (runs === undefined) return empty
  return {
    ...empty,
    wall: '/?wall=on',
    'trigger-where': '/trigger?jobName=update-firmware&where=site%3Dberlin',
    run: `/runs/${runs.nightly}`,
    'run-rollout': `/runs/${runs.rollout}`,
    execution: `/executions/${runs.failed}`,
    'devices-where': '/devices?where=site%3Dlima%20and%20fw%3C2.10&columns=site,fw',
    device: '/devices/kiosk-00001',
    group: '/groups/old-firmware',
    job: '/jobs/update-firmware',
    versions: '/jobs/update-firmware/versions',
    schedule: '/schedules/nightly-prices',
    'schedule-new': '/schedules?new',
    window: '/windows/nights',
    sessions: '/keys/sessions',
  }
}

for (const size of sizes.length > 0 ? sizes.map(Number) : [0, 30, 10_000]) {
  test(`${size} devices`, { timeout: 3_600_000 }, async (t) => {
    const clock = { agoMs: 0 }
    const server = await openOwnServer(t, { now: () => Date.now() - clock.agoMs })
    const runs = size > 0 ? await fillExampleFleet(t, server, clock, size) : undefined
    for (const { name: look, ...options } of looks) {
      const context = await (await openBrowser()).newContext({ ...options, locale: 'en-US' })
      const page = await context.newPage()
      page.on('pageerror', (error) => console.error(error))
      await page.goto(`${server.http}/sign-in`)
      await page.screenshot({ path: join(folder, `sign-in-${look}.png`) })
      await signIn(page, server)
      for (const [name, path] of Object.entries(screensOf(runs))) {
        await page.goto(server.http + path)
        await page.locator('main h1').waitFor()
        await page.waitForTimeout(1500) // a picture, not a test
        await page.screenshot({ path: join(folder, `${name}-${size}-${look}.png`), fullPage: true })
      }
      await context.close()
    }
  })
}

after(() => console.log(`The pictures are in ${folder}.`))
