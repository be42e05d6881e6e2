import assert from 'node:assert/strict'
import { newDevice } from '@jobcast/testkit/call-device'
import type { Page } from 'playwright-core'
import { chaosTest, test } from './browser-test.ts'
import {
  go,
  openConsole,
  openOwner,
  openSharedServer,
  openSignedIn,
  openWithKey,
  simulateDevices,
} from './open-console.ts'

/** The number under a title. */
const figure = (page: Page, title: string) =>
  page.locator('.figure', { has: page.getByRole('heading', { name: title }) }).locator('.number')

async function untilFigure(page: Page, title: string, value: string): Promise<void> {
  await figure(page, title)
    .filter({ hasText: new RegExp(`^${value}$`) })
    .waitFor()
}

chaosTest('an empty fleet says the next step', async (t) => {
  const { page } = await openConsole(t)
  await page.getByText('No devices yet').waitFor()
  await page.getByText('No runs yet').waitFor()
  const steps = page.locator('.first-steps').getByRole('listitem')
  assert.deepEqual(
    (await steps.allTextContents()).map((step) => step.split(/[:,]| on /)[0]),
    ['Create a job', 'Add a device', 'Trigger the job'],
  )
  assert.equal(await page.getByRole('link', { name: 'Trigger a job' }).count(), 0)

  // For a screen on the wall there is nothing but the fleet, under an address of its own.
  const menu = page.getByRole('navigation', { name: 'Screens' })
  await page.getByRole('button', { name: 'Wall mode' }).click()
  await menu.waitFor({ state: 'detached' })
  assert.match(page.url(), /\?wall=on$/)
  await figure(page, 'Running').waitFor()
  await page.getByRole('button', { name: 'Leave wall mode' }).click()
  await menu.waitFor()
})

chaosTest('a key restricted to devices sees the figures and runs of these only', async (t) => {
  const server = await openOwner()
  await server.call('PUT', '/job/api/jobs/restart', { body: {} })
  const devices = await Promise.all(['mine-1', 'mine-2', 'other'].map((each) => newDevice(server, each)))
  for (const each of ['mine-1', 'mine-2']) {
    await server.call('PATCH', `/job/api/devices/${each}`, { body: { tags: ['mine'] } })
  }
  await server.trigger('restart', ['mine-1', 'mine-2', 'other'])
  await devices[0]?.startNext()
  await devices[2]?.startNext()
  const { ownerId } = (await server.call('GET', '/job/api/keys/self')).json
  const restricted = { ownerId, where: 'tag=mine' }
  const { apiKey } = await (await openSharedServer()).newKey(['READ', 'TRIGGER'], restricted)
  const page = await openWithKey(t, server, apiKey)
  await untilFigure(page, 'Running', '1')
  await untilFigure(page, 'Waiting', '1')
  await untilFigure(page, 'Failed in the last hour', '0')
  await page.locator('.figure').getByText('of 2').waitFor()
  await page.getByText('restart on 2 devices').waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Trigger a job' }).waitFor()

  const screens = page.getByRole('navigation', { name: 'Screens' })
  await screens.getByRole('link', { name: 'Devices' }).waitFor()
  assert.equal(await screens.getByRole('link', { name: /Secrets|Files|Windows|Groups|Schedules/ }).count(), 0)
  await screens.getByRole('link', { name: 'Statistics' }).click()
  await page.getByRole('row', { name: /^restart 2 / }).waitFor()
  await page.goto(`${server.http}/secrets`)
  await page.getByText('A restricted key cannot use this screen').waitFor()
})

test('the chart of a run becomes as narrow as the window', async (t) => {
  const { server, page } = await openConsole(t)
  await server.call('PUT', '/job/api/jobs/restart', { body: {} })
  const device = await newDevice(server, 'a')
  const { headers, json } = await server.trigger('restart', ['a'])
  await device.startNext()
  await device.update(json[0].jobExecutionId, 'FAILED')
  await page.setViewportSize({ width: 1440, height: 900 })
  await go(page, `/runs/${headers.get('location')?.split('/').at(-1)}`)
  await page.locator('.time-chart canvas').waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.waitForFunction(() => (document.querySelector('.time-chart canvas')?.clientWidth ?? 999) < 390)
})

test('changes of devices are shown without a reload: figures, runs in words, the map', async (t) => {
  const { server, page } = await openConsole(t)
  await server.call('PUT', '/job/api/jobs/restart', { body: {} })
  const devices = [await newDevice(server, 'a'), await newDevice(server, 'b'), await newDevice(server, 'c')]
  await page.getByText('3 never ran').waitFor()

  const executions = (await server.trigger('restart', ['a', 'b', 'c'])).json
  await page.getByText('restart on 3 devices').waitFor()
  await untilFigure(page, 'Waiting', '3')
  await page.getByRole('button', { name: '3 waiting' }).waitFor()

  for (const device of devices.slice(0, 2)) await device.startNext()
  await untilFigure(page, 'Running', '2')
  await devices[0]?.update(executions[0].jobExecutionId, 'SUCCEEDED')
  await devices[1]?.update(executions[1].jobExecutionId, 'FAILED')
  await page.getByText('1 failed, 1 succeeded, 1 waiting').waitFor()
  await untilFigure(page, 'Failed in the last hour', '1')
  for (const text of ['1 failed', '1 waiting', '1 succeeded']) {
    await page.getByRole('button', { name: text, exact: true }).waitFor()
  }
  await server.call('PUT', '/job/api/devices/c', { body: { attributes: { site: 'san jose' } } })
  await page.getByLabel('Count devices by').selectOption('timeZone')
  await page.getByRole('row', { name: /^no timeZone 3 / }).waitFor()
  await go(page, '/?by=site')
  const site = page.getByRole('link', { name: 'san jose' })
  const where = new URLSearchParams({ where: 'site="san jose"' })
  assert.equal(await site.getAttribute('href'), `/devices?${where}`)
  await page.getByLabel('Count devices by').selectOption('device')
  const oldest = page.getByText(/^oldest .*restart on c$/)
  await oldest.waitFor()

  // A device that works is shown as working, though another execution waits behind it.
  await devices[2]?.startNext()
  await server.trigger('restart', ['c'])
  await page.getByRole('button', { name: '1 running', exact: true }).waitFor()
  await untilFigure(page, 'Waiting', '1')
  assert.equal(await page.getByRole('button', { name: /waiting/ }).count(), 0)

  // A figure and the list that it opens agree.
  await devices[2]?.update(executions[2].jobExecutionId, 'REJECTED')
  await untilFigure(page, 'Failed in the last hour', '2')
  await page.getByRole('link', { name: 'Failed in the last hour' }).click()
  await page.waitForURL(/execState=FAILED,TIMED_OUT,REJECTED,EXPIRED&finishedAfter=/)
  const rows = page.getByRole('table', { name: 'Executions' }).getByRole('row')
  await rows.nth(2).waitFor()
  assert.equal(await rows.count(), 3) // with its head
})

/** A failsafe: the times themselves are printed. */
const shownWithinMs = 20_000

chaosTest('a change on a device shows at once', async (t) => {
  const { server, page } = await openConsole(t)
  await server.call('PUT', '/job/api/jobs/restart', { body: {} })
  const device = await newDevice(server, 'a')
  const [{ jobExecutionId }] = (await server.trigger('restart', ['a'])).json
  await device.startNext()
  await untilFigure(page, 'Running', '1')
  const begun = performance.now()
  await device.update(jobExecutionId, 'FAILED')
  await untilFigure(page, 'Failed in the last hour', '1')
  const ms = performance.now() - begun
  t.diagnostic(`it took ${Math.round(ms)} ms`)
  assert.ok(ms < shownWithinMs, `it took ${Math.round(ms)} ms`)
})

chaosTest('simulated devices come online and go, and the page follows', async (t) => {
  const { server, page } = await openConsole(t)
  const fleet = await simulateDevices(
    t,
    server,
    Array.from({ length: 20 }, (_, index) => `sim-${index}`),
  )
  await untilFigure(page, 'Devices online', '20')
  await fleet.stop()
  await untilFigure(page, 'Devices online', '0')
})

chaosTest('the map is walked over by keyboard, and Enter opens the device', async (t) => {
  const { server, page } = await openConsole(t)
  for (const deviceId of ['a', 'b', 'c']) await newDevice(server, deviceId)
  await page.getByText('3 never ran').waitFor()
  await page.getByRole('application').focus()
  const note = page.locator('.map-note')
  await note.filter({ hasText: 'a: never ran, offline' }).waitFor()
  await page.keyboard.press('ArrowRight')
  await note.filter({ hasText: 'b: never ran, offline' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${server.http}/devices/b`)
  await page.goBack()
  await page.locator('.map canvas').click({ position: { x: 5, y: 5 } })
  await page.waitForURL(`${server.http}/devices/a`)
})

chaosTest('the only unfinished run is on top, whatever has failed since', async (t) => {
  const server = await openOwner()
  await server.call('PUT', '/job/api/jobs/restart', { body: {} })
  await server.call('PUT', '/job/api/jobs/slow', { body: {} })
  await newDevice(server, 'busy')
  const device = await newDevice(server, 'a')
  await server.trigger('slow', ['busy'])
  for (let time = 0; time < 12; time++) {
    const [{ jobExecutionId }] = (await server.trigger('restart', ['a'])).json
    await device.startNext()
    await device.update(jobExecutionId, 'FAILED')
  }
  const page = await openSignedIn(t, server, '/')
  await page.locator('.runs-now li').nth(11).waitFor()
  assert.match((await page.locator('.runs-now li').first().textContent()) ?? '', /^slow on 1 device/)
})

chaosTest('what a cell is stands at the pointer, and the legend says what small means', async (t) => {
  const { server, page } = await openConsole(t)
  for (const deviceId of ['a', 'b', 'c']) await newDevice(server, deviceId)
  await page.getByText('3 never ran').waitFor()
  await page.getByText('small: offline').waitFor()
  await page.locator('.map canvas').hover({ position: { x: 8, y: 8 } })
  const tip = page.locator('.map-tip').filter({ hasText: 'a: never ran, offline' })
  const [canvas, box] = await Promise.all([page.locator('.map canvas').boundingBox(), tip.boundingBox()])
  assert.ok(canvas && box)
  assert.ok(Math.hypot(box.x - canvas.x - 8, box.y - canvas.y - 8) < 40, JSON.stringify({ canvas, box }))
  // A tap only selects a cell; the link next to it is large enough to tap.
  await page.mouse.move(0, 0)
  await page.locator('.map canvas').evaluate((element, { x, y }) => {
    const at = { clientX: x + 8, clientY: y + 8, bubbles: true, pointerType: 'touch' }
    element.dispatchEvent(new PointerEvent('click', at))
  }, canvas)
  const link = page.locator('.map-tip').getByRole('link', { name: 'Open device' })
  assert.ok(((await link.boundingBox())?.height ?? 0) >= 44)
  await link.click()
  await page.waitForURL(`${server.http}/devices/a`)
})

chaosTest(
  'more devices than cells are counted by tag, and all of them are triggered by a selector',
  async (t) => {
    const server = await openOwner()
    await server.call('PUT', '/job/api/jobs/restart', { body: {} })
    const lines = Array.from({ length: 10_001 }, (_, index) =>
      JSON.stringify({ deviceId: `d-${index}`, tags: [index % 4 === 0 ? 'lima' : 'oslo'] }),
    )
    const imported = await fetch(`${server.http}/job/api/devices/import`, {
      method: 'POST',
      headers: { 'x-api-key': server.adminKey, 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    })
    assert.equal(imported.status, 200)
    await server.trigger('restart', ['d-9', 'd-10000'])
    const page = await openSignedIn(t, server, '/')
    const map = page.getByRole('region', { name: 'Devices by execution' })
    await map.getByText('9,999 never ran').waitFor()
    await map.getByText('2 waiting', { exact: true }).waitFor()
    const rows = map.getByRole('row').filter({ hasText: /lima|oslo/ })
    const shown = await rows.evaluateAll((all) =>
      all.map((row) => Array.from(row.children, (cell) => cell.textContent).slice(0, 3)),
    )
    assert.deepEqual(shown, [
      ['oslo', '7,500', '0 %'],
      ['lima', '2,501', '0 %'],
    ])
    await go(page, '/trigger?jobName=restart')
    await page.getByRole('button', { name: 'Add all 10,001' }).click()
    await page.getByRole('button', { name: 'Trigger restart on 10,001 devices' }).click()
    await page.waitForURL(/\/runs\/\d+$/)
    await page.getByText('10,001 waiting').waitFor()
  },
)

test('the map shows after events what it shows after a reload', async (t) => {
  const server = await openOwner()
  await server.putJobAndDevices('restart', ['a', 'b', 'c'])
  const page = await openSignedIn(t, server, '/')
  const legend = (text: string) => page.getByRole('button', { name: text }).waitFor()
  await legend('3 never ran')
  const { headers } = await server.trigger('restart', ['a'])
  await legend('1 waiting')
  await server.trigger('restart', ['b'])
  await legend('2 waiting')
  await server.call('POST', `${headers.get('location')}/cancel`)
  await legend('1 canceled')
  // The canvas is drawn after the frame of the legend.
  const picture = () =>
    page.locator('.map canvas').evaluate(async (canvas: HTMLCanvasElement) => {
      for (let frame = 0; frame < 5; frame++) await new Promise((resolve) => requestAnimationFrame(resolve))
      return canvas.toDataURL()
    })
  const afterEvents = await picture()
  await page.reload()
  await legend('1 canceled')
  assert.ok((await picture()) === afterEvents, 'another picture')
})
