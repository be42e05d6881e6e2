// The trigger, as a person uses it.

import assert from 'node:assert/strict'
import { newDevice } from '@jobcast/testkit/call-device'
import type { Page } from 'playwright-core'
import { chaosTest, test } from './browser-test.ts'
import { openPage } from './open-browser.ts'
import { openOwner, openSignedIn } from './open-console.ts'

const server = await openOwner()
for (const jobName of ['restart', 'reset-network', 'update-firmware']) {
  await server.call('PUT', `/job/api/jobs/${jobName}`, {
    body: { description: `To ${jobName}`, document: { jobName } },
  })
}

const button = (page: Page) => page.getByRole('button', { name: /^Trigger/ })
const count = (page: Page, term: string) =>
  page.locator('.selection-counts > div', { hasText: new RegExp(`^${term}`) }).locator('dd')
const untilCount = (page: Page, term: string, value: number) =>
  count(page, term)
    .filter({ hasText: new RegExp(`^${value}$`) })
    .waitFor()
const runsNow = async () =>
  (await server.call('GET', '/job/api/runs')).json.items as { runId: number; total: number }[]

test('from the trigger to the output, while the device works', async (t) => {
  const till = await newDevice(server, 'till-1')
  await newDevice(server, 'till-2')
  const page = await openSignedIn(t, server, '/trigger')
  await page.getByRole('combobox', { name: 'Job' }).fill('rst')
  await page.getByRole('option', { name: /^restart/ }).click()
  await page.getByRole('paragraph').getByText('To restart').waitFor()
  await page.getByLabel('Search devices').fill('till')
  await page.getByRole('button', { name: 'Add all 2' }).click()
  await untilCount(page, 'offline', 2)
  await page.getByRole('button', { name: 'Remove till-2' }).click()
  await button(page).filter({ hasText: 'Trigger restart on 1 device' }).click()
  await page.waitForURL(/\/runs\/\d+$/)
  await page.getByRole('heading', { name: 'restart' }).waitFor()
  await page.getByRole('link', { name: 'Waiting 1' }).waitFor()

  const jobExecutionId = Number((await till.startNext()).json.execution.jobId)
  await page.getByRole('link', { name: 'Running 1' }).waitFor()
  await page.getByRole('table').getByRole('cell', { name: 'running' }).click()
  await page.waitForURL(`${server.http}/executions/${jobExecutionId}`)
  await till.output(jobExecutionId, 0, 'stopping the kiosk\n')
  await page.getByText('stopping the kiosk').waitFor()
  await till.output(jobExecutionId, 19, 'starting it again\n')
  await page.getByText('starting it again').waitFor()
  await till.update(jobExecutionId, 'SUCCEEDED', { statusDetails: { exitCode: '0' } })
  await page.getByRole('main').locator('.page-header').getByText('succeeded').waitFor()
  await page.getByText('exitCode').waitFor()
})

chaosTest('a trigger by keys alone', async (t) => {
  await newDevice(server, 'gate-1')
  await newDevice(server, 'gate-2')
  const page = await openSignedIn(t, server, '/')
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await page.getByRole('combobox', { name: 'Job' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('fw')
  await page.getByRole('option', { name: /^update-firmware/, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/jobName=update-firmware/)
  await page.keyboard.press('Tab') // what devices get
  await page.keyboard.press('Tab') // how to choose
  await page.keyboard.press('Tab')
  await page.getByLabel('Search devices').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('gate-2')
  await page.getByRole('checkbox').and(page.getByLabel('gate-2')).waitFor()
  await page.keyboard.press('Tab') // add all
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Remove gate-2' }).waitFor()
  while (!(await button(page).evaluate((element) => element === document.activeElement))) {
    await page.keyboard.press('Tab')
  }
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/runs\/\d+$/)
  await page.getByRole('table').getByRole('link', { name: 'gate-2' }).waitFor()
})

chaosTest('Enter chooses the job whose whole name was typed, also where others come first', async (t) => {
  await server.call('PUT', '/job/api/jobs/aaa-restart', { body: {} })
  await server.call('PUT', '/job/api/jobs/reboot', { body: {} })
  const page = await openSignedIn(t, server, '/trigger')
  const field = page.getByRole('combobox', { name: 'Job' })
  await page.locator('[role=option]').first().waitFor({ state: 'attached' })
  await field.pressSequentially('restart')
  await page.waitForURL(/jobName=restart$/)
  await field.press('Enter')
  assert.equal(await field.inputValue(), 'restart')
  assert.match(page.url(), /jobName=restart$/)
  // Opened again it offers all jobs, and the arrow keys choose among them.
  await field.press('ArrowDown')
  await page.getByRole('option', { name: 'aaa-restart' }).waitFor()
  await page.getByRole('option', { name: 'reboot' }).waitFor()
})

chaosTest('pressed twice it makes one run', async (t) => {
  await newDevice(server, 'twice')
  const page = await openSignedIn(t, server, '/trigger?jobName=restart&deviceId=twice')
  const before = (await runsNow()).length
  await untilCount(page, 'offline', 1)
  await button(page).dblclick()
  await page.waitForURL(/\/runs\/\d+$/)
  assert.equal((await runsNow()).length, before + 1)
})

chaosTest('an answer that was lost makes one run when it is asked for again', async (t) => {
  await newDevice(server, 'lost')
  const page = await openSignedIn(t, server, '/trigger?jobName=restart&deviceId=lost', {
    expected: [/jobs\/execute/],
  })
  await untilCount(page, 'offline', 1)
  const before = (await runsNow()).length
  // The server gets every request, but the page gets no response: neither for first tries nor for retries of the client.
  let isCut = true
  await page.route('**/job/api/jobs/execute', async (route) => {
    if (!isCut) return route.continue()
    await route.fetch()
    return route.abort('connectionreset')
  })
  await button(page).click()
  await page.getByText('The server is not responding.').waitFor()
  isCut = false
  await button(page).click()
  await page.waitForURL(/\/runs\/\d+$/)
  assert.equal((await runsNow()).length, before + 1)
})

chaosTest('devices by tag and by paste; names that are none are shown as such', async (t) => {
  for (const deviceId of ['lab-1', 'lab-2', 'lab-3']) {
    await server.call('PUT', `/job/api/devices/${deviceId}`, { body: { tags: ['lab'] } })
  }
  const page = await openSignedIn(t, server, '/trigger?jobName=restart')
  await page.getByRole('radio', { name: 'Tag' }).check({ force: true })
  await page.getByRole('button', { name: '+ lab' }).click()
  await page.getByText('Added 3 with the tag lab.').waitFor()
  await page.getByRole('radio', { name: 'CLI' }).check({ force: true })
  await page.getByText('--wait --tag=lab').waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()

  await page.getByRole('radio', { name: 'Paste' }).check({ force: true })
  await page.getByLabel('Paste devices').fill('lab-1, nobody\nlab-3')
  await page.getByText('1 unknown: nobody').waitFor()
  await page.getByRole('button', { name: 'Add 2 devices' }).click()
  await untilCount(page, 'offline', 2)
  assert.equal(await page.getByLabel('Paste devices').inputValue(), 'nobody')
  await page.goto(`${server.http}/trigger?jobName=restart&tag=lab`)
  await untilCount(page, 'offline', 3)
})

chaosTest('the counts follow the devices before the button is pressed', async (t) => {
  const device = await newDevice(server, 'counted')
  const page = await openSignedIn(t, server, '/trigger?jobName=restart&deviceId=counted')
  await untilCount(page, 'offline', 1)
  await server.trigger('restart', ['counted'])
  await device.startNext()
  await untilCount(page, 'busy', 1)
  await untilCount(page, 'online', 1)
})

chaosTest('the same call is there to copy, without a key', async (t) => {
  await newDevice(server, 'pump-1')
  const page = await openSignedIn(t, server, '/trigger?jobName=restart&deviceId=pump-1', {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  for (const [kind, text] of [
    ['curl', '"deviceIds":["pump-1"]'],
    ['CLI', 'npx --no-install jobcast trigger --wait'],
    ['TypeScript', 'deviceIds: ["pump-1"]'],
  ] as const) {
    await page.getByRole('radio', { name: kind }).check({ force: true })
    await page.getByRole('button', { name: /^Cop/ }).click()
    const isCopied = async (wanted: string) => (await navigator.clipboard.readText()).includes(wanted)
    await page.waitForFunction(isCopied, text)
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    assert.doesNotMatch(copied, /jc_/)
    assert.ok(kind === 'CLI' || copied.includes('JOBCAST_API_KEY'))
  }
})

chaosTest('J-301 is said at the job, J-001 at the devices, which can be left out', async (t) => {
  await server.call('PUT', '/job/api/jobs/short-lived', { body: {} })
  await newDevice(server, 'stays')
  const page = await openSignedIn(t, server, '/trigger?jobName=short-lived&deviceId=stays&deviceId=gone', {
    expected: [/404/],
  })
  await untilCount(page, 'unknown', 1)
  await button(page).click()
  const alert = page.getByRole('region', { name: 'Where' }).getByRole('alert')
  await alert.filter({ hasText: /Device not found J-001: gone/ }).waitFor()
  await server.call('DELETE', '/job/api/jobs/short-lived')
  await alert.getByRole('button', { name: 'Remove it' }).click()
  await button(page).filter({ hasText: 'on 1 device' }).click()
  await page.getByRole('region', { name: 'What' }).getByText('Job not found (J-301)').waitFor()
  assert.equal(await page.getByRole('combobox', { name: 'Job' }).getAttribute('aria-invalid'), 'true')
})

chaosTest('the chosen devices are still there after Back, few or many', async (t) => {
  const many = Array.from({ length: 60 }, (_, index) => `back-${index}`)
  await server.putJobAndDevices('restart', many)
  const page = await openSignedIn(t, server, '/trigger?jobName=restart')
  await page.getByLabel('Search devices').fill('back-5')
  await page.getByRole('button', { name: 'Add all 11' }).click()
  await page.getByRole('heading', { name: '11 devices chosen' }).waitFor()
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByRole('heading', { name: 'Runs' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: '11 devices chosen' }).waitFor()
  await page.getByLabel('Search devices').fill('back-')
  await page.getByRole('button', { name: 'Add all 49' }).click()
  await page.getByRole('heading', { name: '60 devices chosen' }).waitFor()
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByRole('heading', { name: 'Runs' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: '60 devices chosen' }).waitFor()
})

chaosTest('a key that may only trigger does so by names', async (t) => {
  await newDevice(server, 'blind')
  const { apiKey } = await server.newKey(['TRIGGER'])
  const page = await openPage(t, { expected: [/403/] })
  await page.goto(`${server.http}/trigger`)
  await page.getByLabel('API key').fill(apiKey)
  await page.keyboard.press('Enter')
  await page.getByLabel('Job', { exact: true }).fill('restart')
  await page.getByLabel('Paste devices').fill('blind')
  await page.getByRole('button', { name: 'Add 1 device' }).click()
  await button(page).click()
  await page.getByText(/^Run \d+ created\.$/).waitFor()
})
