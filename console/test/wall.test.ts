// Wall mode on displays of two sizes: large text, everything on the screen, and nothing cut.

import assert from 'node:assert/strict'
import { newDevice } from '@jobcast/testkit/call-device'
import { waitUntil } from '@jobcast/testkit/wait-until'
import type { Page } from 'playwright-core'
import { chaosTest, test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openOperator, openSharedServer, openSignedIn } from './open-console.ts'

const server = await openOperator()
await server.call('PUT', '/job/api/jobs/update', { body: {} })
const devices = await Promise.all(['w1', 'w2', 'w3'].map((name) => newDevice(server, name)))
const deviceIds = devices.map(({ deviceId }) => deviceId)

const rollout = { order: 'GIVEN', waves: [{ size: 1 }, { size: '100%' }] }
const launch = (content: object, key = server.adminKey) =>
  server.call('POST', '/job/api/runs', {
    key,
    body: { jobName: 'update', targets: { deviceIds }, ...content },
  })
const { runId } = (await launch({ rollout })).json
await waitUntil('the first wave is released', async () => {
  const run = await server.call('GET', `/job/api/runs/${runId}`)
  return run.json.rollout.released === 1
})
const { json } = (await devices[0]?.startNext()) ?? {}
await devices[0]?.update(Number(json.execution.jobId), 'FAILED', { statusDetails: { reason: 'disk full' } })
const shared = await openSharedServer()
const colleague = await shared.newKey(['READ', 'TRIGGER'], { ownerId: server.ownerId })
await launch({ approval: true }, colleague.apiKey)
for (let more = 0; more < 8; more++) await launch({})

/** Texts in smaller letters than this many pixels. */
const textsBelow = (page: Page, pixels: number) =>
  page.evaluate((least) => {
    const texts = document.createTreeWalker(document.querySelector('main') as Element, NodeFilter.SHOW_TEXT)
    const found: string[] = []
    while (texts.nextNode()) {
      const { parentElement: of, textContent } = texts.currentNode
      if (!of || !textContent?.trim() || of.closest('.hidden') || !of.checkVisibility()) continue
      const size = Number.parseFloat(getComputedStyle(of).fontSize)
      if (size < least) found.push(`${of.className} ${textContent}: ${size}`)
    }
    return found
  }, pixels)

/** Of each run whether it is completely inside of the panel, or completely outside. */
const placesOfRuns = (page: Page) =>
  page.evaluate(() => {
    const list = document.querySelector('.runs-now') as Element
    const room = list.getBoundingClientRect()
    return [...list.children].map((run) => {
      const { top, bottom, left } = run.getBoundingClientRect()
      if (left >= room.right) return 'outside'
      return top >= room.top - 1 && bottom <= room.bottom + 1 ? 'inside' : 'cut'
    })
  })

async function checkWall(page: Page, leastPixels: number): Promise<void> {
  const needs = page.getByRole('region', { name: 'Needs attention' })
  await needs.getByText('update is paused').waitFor()
  await needs.getByText('mostly disk full (1 of 1)').waitFor()
  await needs.getByText('update awaits your approval').waitFor()
  await page.getByRole('heading', { name: 'Runs now: 10' }).waitFor()
  await page.locator('.map canvas').waitFor()
  assert.match((await page.locator('.wall-clock').textContent()) ?? '', /^\d\d:\d\d$/)
  assert.deepEqual(await textsBelow(page, leastPixels), [])
  const excess = await page.evaluate(() => [
    document.documentElement.scrollWidth - innerWidth,
    document.documentElement.scrollHeight - innerHeight,
  ])
  assert.ok(
    excess.every((pixels) => pixels <= 0),
    `${excess} pixels too large`,
  )
  const places = await placesOfRuns(page)
  assert.equal(places[0], 'inside')
  assert.deepEqual(
    places.filter((place) => place === 'cut'),
    [],
  )
  assert.deepEqual(await findViolations(page), [])
}

test('no text on a wall of 1920 pixels is smaller than 24, and all of it is on the screen', async (t) => {
  const viewport = { width: 1920, height: 1080 }
  await checkWall(await openSignedIn(t, server, '/?wall=on', { viewport, colorScheme: 'dark' }), 24)
})

chaosTest(
  'no text on a wall of 3840 pixels is smaller than 48, and all of it is on the screen',
  async (t) => {
    const viewport = { width: 3840, height: 2160 }
    const page = await openSignedIn(t, server, '/?wall=on', { viewport })
    await checkWall(page, 48)
    await page.goto(`${server.http}/?wall=on&by=group`)
    await page.locator('.fleet-groups').waitFor()
    assert.deepEqual(await textsBelow(page, 48), [])
  },
)
