// axe on every screen, in both themes, wide and narrow.

import assert from 'node:assert/strict'
import { newDevice } from '@jobcast/testkit/call-device'
import { test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openPage } from './open-browser.ts'
import { openConsole, openConsoleServer } from './open-console.ts'

const looks = [
  { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const

for (const look of looks) {
  const title = `${look.colorScheme}, ${look.viewport.width} pixels`

  test(`axe finds nothing on the sign-in (${title})`, async (t) => {
    const server = await openConsoleServer(t)
    const page = await openPage(t, look)
    await page.goto(server.http)
    await page.getByLabel('API key').waitFor()
    assert.deepEqual(await findViolations(page), [])
  })

  test(`axe finds nothing on the fleet, empty and busy (${title})`, async (t) => {
    const { server, page } = await openConsole(t, look)
    await page.getByText('No devices yet').waitFor()
    assert.deepEqual(await findViolations(page), [])
    await server.call('PUT', '/job/api/jobs/restart', { body: {} })
    const device = await newDevice(server, 'a')
    await newDevice(server, 'b')
    const [{ jobExecutionId }] = (await server.trigger('restart', ['a', 'b'])).json
    await device.startNext()
    await device.update(jobExecutionId, 'FAILED')
    await page.getByText('1 failed, 1 waiting').waitFor()
    assert.deepEqual(await findViolations(page), [])
  })
}
