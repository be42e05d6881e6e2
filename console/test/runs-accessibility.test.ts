// axe on the trigger, runs and executions, in both themes, wide and narrow.

import assert from 'node:assert/strict'
import { newDevice } from '@jobcast/testkit/call-device'
import type { Page } from 'playwright-core'
import { test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openSharedServer, openSignedIn } from './open-shared-server.ts'

const server = await openSharedServer()
await server.call('PUT', '/job/api/jobs/restart', {
  body: { description: 'Restarts it', document: { a: 1 } },
})
const device = await newDevice(server, 'a')
await newDevice(server, 'b')
const [{ jobExecutionId }] = (await server.trigger('restart', ['a', 'b'])).json
await device.startNext()
const colours = Array.from(
  { length: 8 },
  (_, index) => `\x1b[3${index}mfront\x1b[0m \x1b[4${index}mback\x1b[0m \x1b[9${index}mbright\x1b[0m`,
)
await device.output(jobExecutionId, 0, `${colours.join('\n')}\n\x1b[2mdim\x1b[0m \x1b[7minverse\x1b[0m\n`)
await device.update(jobExecutionId, 'FAILED', { statusDetails: { reason: 'disk full' } })

const looks = [
  { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const

const screens: { name: string; path: string; until: (page: Page) => Promise<void> }[] = [
  {
    name: 'the trigger',
    path: '/trigger?jobName=restart&deviceId=a&deviceId=nobody',
    until: async (page) => {
      await page.getByText('are no devices of yours').waitFor()
      await page.getByRole('combobox', { name: 'Job' }).click()
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'runs',
    path: '/runs',
    until: (page) => page.getByRole('table').getByRole('img', { name: '1 failed, 1 waiting' }).waitFor(),
  },
  { name: 'a run', path: '/runs/1', until: (page) => page.locator('.time-chart canvas').waitFor() },
  {
    name: 'executions',
    path: '/executions',
    until: (page) => page.getByRole('table').getByText('failed').waitFor(),
  },
  {
    name: 'an execution',
    path: `/executions/${jobExecutionId}`,
    until: (page) => page.getByRole('log').getByText('inverse').waitFor(),
  },
]

for (const look of looks) {
  for (const { name, path, until } of screens) {
    test(`axe finds nothing on ${name} (${look.colorScheme}, ${look.viewport.width} pixels)`, async (t) => {
      const page = await openSignedIn(t, server, path, look)
      await until(page)
      assert.deepEqual(await findViolations(page), [])
      const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      assert.equal(overflows, false, 'nothing stands outside of the window')
    })
  }
}
