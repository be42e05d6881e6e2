// axe on every screen, in both themes, wide and narrow.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { newDevice } from '../../server/test/support/call-device.ts'
import { openPage } from './open-browser.ts'
import { openConsole, openConsoleServer } from './open-console.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }

/** By the debugger's way, which no policy of the page is in. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource)
  const violations: Violation[] = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }
    return (await axe.run()).violations
  })
  return violations.map(
    ({ id, impact, nodes }) =>
      `${impact} ${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('\n')}`,
  )
}

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
