// The pictures of the README and the docs, from the running program, light and dark: npm run pictures. Not a test.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { fillExampleFleet } from './example-fleet.ts'
import { openBrowser } from './open-browser.ts'
import { openOwnServer, signIn } from './open-console.ts'
import { toPalettePng } from './palette-png.ts'

const folder = join(import.meta.dirname, '../../docs/images')
const size = Number(process.argv[2] ?? 10_000)
const maxBytes = 250_000

const window = { width: 1440, height: 900 }
const display = { width: 1920, height: 1080 }

test('pictures', { timeout: 3_600_000 }, async (t) => {
  const clock = { agoMs: 0 }
  const server = await openOwnServer(t, { maxDevices: size, now: () => Date.now() - clock.agoMs })
  const { rollout } = await fillExampleFleet(t, server, clock, size)
  const context = await (await openBrowser()).newContext({
    viewport: window,
    deviceScaleFactor: 1.25,
    locale: 'en-US',
    reducedMotion: 'reduce',
  })
  t.after(() => context.close())
  const page = await context.newPage()
  const open = async (path: string, drawn: string) => {
    await page.goto(server.http + path)
    await page.locator(drawn).first().waitFor()
    await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined) // events keep coming
  }
  await signIn(page, server)
  await open('/', '.fleet-map canvas')
  await take(page, 'console-fleet')
  await open(`/runs/${rollout}`, '.time-chart canvas')
  await page.getByText('Why devices failed').waitFor()
  await take(page, 'console-run', { height: 1130 })
  await open('/trigger?jobName=update-firmware&where=fw%20%3C%202.10', '.selection-counts')
  await page.getByLabel('Roll out in steps').check()
  await page.getByLabel('Canary devices').fill('10')
  await page.getByLabel('Waves', { exact: true }).fill('10%, 50%, 100%')
  await page.getByLabel('Pause at failures, in percent').fill('5')
  await page.getByRole('button', { name: /^Trigger update-firmware on/ }).waitFor()
  await page.waitForTimeout(2000) // until the plan has been read
  await take(page, 'console-trigger', { height: 1240 })
  await page.setViewportSize(display)
  await open('/?wall=on', '.fleet-map canvas')
  await take(page, 'console-wall', display)
  assert.deepEqual(tooLarge, [])
})

const tooLarge: string[] = []

/** The same moment in both themes. */
async function take(
  page: Page,
  name: string,
  { width = window.width, height = window.height } = {},
): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.evaluate(() => scrollTo(0, 0))
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.waitForTimeout(500) // until the canvases are drawn again
    const path = join(folder, `${name}-${colorScheme}.png`)
    const scale = width > window.width ? 'css' : 'device'
    const png = toPalettePng(await page.screenshot({ scale }))
    writeFileSync(path, png)
    const bytes = png.length
    console.log(`${path}: ${Math.round(bytes / 1000)} KB`)
    if (bytes > maxBytes) tooLarge.push(path)
  }
}
