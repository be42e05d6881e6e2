// When: windows, schedules and the calendar.

import assert from 'node:assert/strict'
import { newDevice } from '@jobcast/testkit/call-device'
import type { Page } from 'playwright-core'
import { chaosTest, test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { go, openOwner, openSharedServer, openSignedIn, openWithKey } from './open-console.ts'

const server = await openOwner()
const put = async (path: string, body: object) => {
  const reply = await server.call('PUT', `/job/api/${path}`, { body })
  assert.ok(reply.status === 200 || reply.status === 201, reply.text)
}
await put('devices/d1', { tags: ['till'] })

const narrow = { colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const
/** So that times are the same on every machine. */
const berlin = { timezoneId: 'Europe/Berlin' }

const readerKey = async () => {
  const { ownerId } = (await server.call('GET', '/job/api/keys/self')).json
  return (await (await openSharedServer()).newKey(['READ'], { ownerId })).apiKey
}

async function checkLook(page: Page): Promise<void> {
  assert.deepEqual(await findViolations(page), [])
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.ok(excess <= 0, `${excess} pixels too wide`)
}

test('a window is created, shows its next openings in a stated zone, is used by a job, and is deleted', async (t) => {
  const page = await openSignedIn(t, server, '/windows', { ...berlin, expected: [/40\d/] })
  await page.getByText('No windows yet').waitFor()
  await page.getByRole('button', { name: 'New window' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('nights')
  await dialog.getByLabel('Opens at').fill('0 2 * *')
  await dialog.getByText('Must have five fields, such as 0 2 * * *.').waitFor()
  const create = dialog.getByRole('button', { name: 'Create window' })
  assert.ok(await create.isDisabled())
  await dialog.getByLabel('Opens at').fill('0 27 * * *')
  await create.click()
  await dialog.getByText(/\(J-507\)/).waitFor()
  assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
  await dialog.getByLabel('Opens at').fill('0 2 * * *')
  await dialog.getByText('Every day at 02:00.').waitFor()
  await dialog.getByLabel('Stays open for').fill('3 h')
  await dialog.getByLabel('Nothing new for the last').fill('4 h')
  await dialog.getByText('Must be shorter than the window.').waitFor()
  await dialog.getByLabel('Nothing new for the last').fill('30 min')
  await dialog.getByLabel('Closed on').fill('2030-12-24/2031-01-02')
  await page.keyboard.press('Enter')
  await create.click()
  await page.waitForURL(`${server.http}/windows/nights`)
  const { json } = await server.call('GET', '/job/api/windows/nights')
  assert.deepEqual(
    [json.cron, json.durationMinutes, json.cutoffMinutes, json.timeZone, json.except],
    ['0 2 * * *', 180, 30, 'device', ['2030-12-24/2031-01-02']],
  )
  await page.getByRole('heading', { name: 'Next openings, in Europe/Berlin time' }).waitFor()
  const opening = page.getByRole('listitem').filter({ hasText: /02:00 to 05:00/ })
  await opening
    .first()
    .getByText(/nothing new from 04:30/)
    .waitFor()
  await page.getByLabel('For devices in').fill('America/Lima')
  await page.getByRole('heading', { name: 'Next openings, in America/Lima time' }).waitFor()
  // The same instant for whoever looks.
  await opening
    .first()
    .getByText(/0[89]:00 Europe\/Berlin/)
    .waitFor()
  await checkLook(page)

  await put('jobs/restart', { window: 'nights' })
  await page.reload()
  await page.getByRole('link', { name: 'restart' }).waitFor()
  const remove = async () => {
    await page.getByRole('button', { name: 'Delete window' }).click()
    await dialog.getByRole('button', { name: 'Delete window' }).click()
  }
  await remove()
  await dialog.getByText('J-315').waitFor()
  await dialog.getByRole('button', { name: 'Back' }).click()
  // An edit of something else keeps the window of a job.
  await page.getByRole('link', { name: 'restart' }).click()
  await page.getByLabel('Description').fill('Restarts it')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  assert.equal((await server.call('GET', '/job/api/jobs/restart')).json.window, 'nights')
  await page.getByLabel('Window').selectOption('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await page.goto(`${server.http}/windows/nights`)
  await page.getByText('no job, schedule or group').waitFor()
  await remove()
  await page.waitForURL(`${server.http}/windows`)
})

chaosTest('a run is triggered in a window, or at any time with a note', async (t) => {
  await put('windows/mornings', { cron: '0 6 * * *', durationMinutes: 60, timeZone: 'UTC' })
  await put('jobs/reboot', { window: 'mornings' })
  await put('windows/evenings', { cron: '0 20 * * *', durationMinutes: 60, timeZone: 'UTC' })
  const page = await openSignedIn(t, server, '/trigger?jobName=reboot&deviceId=d1', berlin)
  const window = page.getByLabel('Window', { exact: true })
  await page.getByText('Default of the job: mornings').waitFor({ state: 'attached' })
  await window.selectOption('evenings')
  const call = page.getByRole('region', { name: 'The same call' })
  await call.getByText('"window":"evenings"').waitFor()
  const trigger = page.getByRole('button', { name: /^Trigger/ })
  await page.getByLabel('Offer it at any time').check()
  await page.getByText('To ignore windows, give a reason.').waitFor()
  assert.ok(await trigger.isDisabled())
  await page.getByLabel('Note').fill('Ticket 4711')
  await call.getByText('"ignoreWindows":true').waitFor()
  await checkLook(page)
  await trigger.filter({ hasText: 'Trigger reboot on 1 device' }).click()
  await page.getByText('Note: Ticket 4711').waitFor()

  const inWindow = await server.call('POST', '/job/api/runs', {
    body: { jobName: 'reboot', targets: { deviceIds: ['d1'] }, window: 'evenings' },
  })
  const reader = await openWithKey(t, server, await readerKey(), {
    ...narrow,
    path: `/runs/${inWindow.json.runId}`,
  })
  await reader.getByRole('link', { name: 'evenings' }).waitFor()
  await checkLook(reader)
  await reader.goto(`${server.http}/windows`)
  await reader.getByRole('link', { name: 'mornings' }).click()
  await reader.getByText('Next openings, in UTC time').waitFor()
  await checkLook(reader)
  assert.equal(await reader.getByRole('button', { name: /Edit|Delete|New/ }).count(), 0)
})

test('a schedule is created, shows its next times in its zone, fires, is paused and resumed, and has a history', async (t) => {
  await put('jobs/logs', {})
  const device = await newDevice(server, 'd2')
  await put('devices/d2', { tags: ['logged'] })
  const page = await openSignedIn(t, server, '/schedules', { ...berlin, expected: [/40\d/] })
  await page.getByRole('link', { name: 'Create the first one' }).click()
  const create = page.getByRole('button', { name: 'Create schedule' })
  await page.getByLabel('Name', { exact: true }).fill('nightly')
  await create.click()
  await page.getByText('Choose a job.').waitFor()
  await page.getByText('Enter a selector.').waitFor()
  await page.getByLabel('Job', { exact: true }).selectOption('logs')
  await page.getByLabel('Selector').fill('tag=logged')
  await page.getByText('1 device matches').waitFor()
  await page.getByLabel('Pattern').fill('0 0 3 * * 1')
  await page.getByText('Must have five fields, such as 0 3 * * 1-5, or be @daily.').waitFor()
  await page.getByLabel('Pattern').fill('0 25 * * *')
  await page.getByLabel('Time zone').fill('America/Lima')
  await create.click()
  await page.getByText(/\(J-507\)/).waitFor()
  await page.getByLabel('Pattern').fill('0 3 * * *')
  await page.getByText('Every day at 03:00, America/Lima time.').waitFor()
  const preview = page.getByRole('region', { name: 'Next occurrences' }).getByRole('listitem')
  await preview
    .filter({ hasText: /, 03:00.*(?:09|10):00 Europe\/Berlin/ })
    .nth(4)
    .waitFor()
  await page.getByLabel('Jitter').fill('5 min')
  await page.getByLabel('Pause after failed runs').fill('3')
  await checkLook(page)
  await create.click()
  await page.waitForURL(`${server.http}/schedules/nightly`)
  const stored = async () => (await server.call('GET', '/job/api/schedules/nightly')).json
  const { when, targets, overlap, jitterSeconds, pauseAfterFailures } = await stored()
  assert.deepEqual(
    [when, targets, overlap, jitterSeconds, pauseAfterFailures],
    [{ cron: '0 3 * * *', timeZone: 'America/Lima' }, { where: 'tag=logged' }, 'SKIP', 300, 3],
  )
  await page.getByText('every day at 03:00, America/Lima time').waitFor()
  await page.getByRole('heading', { name: 'Next occurrences, in America/Lima time' }).waitFor()
  const times = page.getByRole('region', { name: 'Next occurrences' }).getByRole('listitem')
  const rightTimes = times.filter({ hasText: /, 03:00.*(?:09|10):00 Europe\/Berlin/ })
  await rightTimes.nth(9).waitFor()
  assert.equal(await times.count(), 10)
  await page.getByText('No runs yet').waitFor()

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('The schedule is paused. If it were resumed, it would run at these times.').waitFor()
  assert.equal((await stored()).paused, true)
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('The schedule is paused').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Fire now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Fire now' }).click()
  await page.waitForURL(/\/runs\/\d+$/)
  const runId = page.url().split('/').at(-1)
  await page.getByRole('link', { name: 'nightly' }).click()
  const history = page.getByRole('table', { name: 'Runs of the schedule' })
  await history.getByRole('link', { name: runId as string, exact: true }).waitFor()
  await history.getByText('1 waiting').waitFor()
  const { json } = await device.startNext()
  await device.update(Number(json.execution.jobId), 'SUCCEEDED')
  await history.getByText('1 succeeded').waitFor()
  await checkLook(page)

  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('When', { exact: true }).selectOption('match')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Whenever a device starts to match, once for each device.').waitFor()
  assert.deepEqual((await stored()).when, { match: true })
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Again').selectOption('WHILE_MATCHING')
  await page.getByLabel('Cancel pending executions running executions continue').check()
  await page.getByLabel('Back-off').fill('2 d')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Must be 1 s to 1 d.').waitFor()
  await page.getByLabel('Back-off').fill('5 min')
  await checkLook(page)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/again while it matches: 5 min after its execution ended/).waitFor()
  await page.getByText('pending executions are canceled').waitFor()
  const again = { again: 'WHILE_MATCHING', backOffSeconds: 300, onLeave: 'CANCEL' }
  assert.deepEqual((await stored()).when, { match: true, ...again })
  // A device that starts to match gets it, and the page is updated by an event.
  await put('devices/d3', { tags: ['logged'] })
  await history.getByRole('row').nth(2).waitFor()

  // Its page is still open when the schedule is deleted, and may read it once more.
  const reader = await openWithKey(t, server, await readerKey(), {
    ...{ ...narrow, ...berlin },
    path: '/schedules',
    expected: [/404/],
  })
  await reader.getByRole('link', { name: 'nightly' }).click()
  await reader.getByText('while a device matches').waitFor()
  await checkLook(reader)
  const forbidden = reader.getByRole('main').getByRole('button', { name: /Fire|Pause|Delete/ })
  assert.equal(await forbidden.count(), 0)

  await page.getByRole('button', { name: 'Delete schedule' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete schedule' }).click()
  await page.waitForURL(`${server.http}/schedules`)
  await page.getByText('No schedules yet').waitFor()
})

chaosTest(
  'a schedule gets its parameters and its rollout, and a job its default rollout, by forms and as JSON',
  async (t) => {
    const properties = { fw: { type: 'string' }, wipe: { type: 'boolean', default: false } }
    await put('jobs/flash', {
      document: { fw: '${params.fw}' },
      parameters: { type: 'object', properties, required: ['fw'] },
    })
    const page = await openSignedIn(t, server, '/schedules?new', { ...berlin, expected: [/404/] })
    const create = page.getByRole('button', { name: 'Create schedule' })
    await page.getByLabel('Name', { exact: true }).fill('flashing')
    await page.getByLabel('Job', { exact: true }).selectOption('flash')
    await page.getByLabel('Selector').fill('tag=till')
    const fw = page.getByLabel('fw', { exact: true })
    await fw.waitFor()
    await create.click()
    await page.getByText('Fill in the parameters.').waitFor()
    await fw.fill('2.4.1')
    await page.getByRole('button', { name: 'Edit as JSON: Parameters' }).click()
    const values = page.getByLabel('Values')
    assert.deepEqual(JSON.parse(await values.inputValue()), { fw: '2.4.1' })
    await values.fill('{ "fw": "2.4.2", "wype": true }')
    await page.getByText('wype is not a parameter of the job.').waitFor()
    await values.fill('{ "fw": "2.4.2", "wipe": true }')
    await page.getByRole('button', { name: 'Edit as form: Parameters' }).click()
    assert.equal(await fw.inputValue(), '2.4.2')

    await page.getByLabel('Roll out in steps').check()
    await page.getByLabel('Canary devices').fill('5')
    await page.getByLabel('Soak time').fill('soon')
    await create.click()
    await page.getByText('Use a format such as 90 s').waitFor()
    await page.getByLabel('Soak time').fill('1 h')
    await checkLook(page)
    await create.click()
    await page.waitForURL(`${server.http}/schedules/flashing`)
    const { parameters, rollout } = (await server.call('GET', '/job/api/schedules/flashing')).json
    const steps = { waves: [{ size: 5 }, { size: '100%' }], next: { soakSeconds: 3600 } }
    assert.deepEqual([parameters, rollout], [{ fw: '2.4.2', wipe: true }, steps])
    await page.getByRole('region', { name: 'Parameters' }).getByText('2.4.2').waitFor()

    await go(page, '/jobs/flash')
    await page.getByLabel('Roll out in steps').check()
    await page.getByLabel('Devices per minute').fill('20')
    await page.getByRole('button', { name: 'Edit as JSON: Default rollout' }).click()
    const json = page.getByRole('textbox', { name: 'Default rollout' })
    assert.deepEqual(JSON.parse(await json.inputValue()), { ratePerMinute: 20 })
    await json.fill(
      '{ "ratePerMinute": 30, "waves": [{ "size": 1, "where": "tag=canary" }, { "size": "100%" }] }',
    )
    // What the fields cannot express stays JSON.
    assert.equal(await page.getByRole('button', { name: 'Edit as form: Default rollout' }).count(), 0)
    await json.fill('{ "ratePerMinute": 30 }')
    await page.getByRole('button', { name: 'Edit as form: Default rollout' }).click()
    assert.equal(await page.getByLabel('Devices per minute').inputValue(), '30')
    await checkLook(page)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    assert.deepEqual((await server.call('GET', '/job/api/jobs/flash')).json.rollout.ratePerMinute, 30)
  },
)

chaosTest(
  'before it is saved a schedule shows when devices of each time zone get it, in window, rollout and freeze',
  async (t) => {
    const own = await openOwner()
    const make = (path: string, body: object) => own.call('PUT', `/job/api/${path}`, { body })
    await make('devices/b1', { tags: ['till'], timeZone: 'Europe/Berlin' })
    await make('devices/b2', { tags: ['till'], timeZone: 'Europe/Berlin' })
    await make('devices/l1', { tags: ['till'], timeZone: 'America/Lima' })
    await make('devices/l2', { timeZone: 'Asia/Tokyo' })
    await make('devices/u1', { tags: ['till'] })
    await make('windows/nights', { cron: '0 2 * * *', durationMinutes: 180 })
    await make('jobs/logs', { window: 'nights' })
    const page = await openSignedIn(t, own, '/schedules?new', { ...berlin, expected: [/404/] })
    await page.getByLabel('Name', { exact: true }).fill('nightly')
    await page.getByLabel('Job', { exact: true }).selectOption('logs')
    await page.getByLabel('Selector').fill('tag=till')
    await page.getByLabel('Pattern').fill('0 12 * * *')
    await page.getByLabel('Time zone').fill('UTC')
    const strip = page.getByRole('region', { name: 'When devices get it' })
    const row = (text: RegExp) => strip.getByRole('listitem').filter({ hasText: text })
    // Noon of UTC is 13:00 or 14:00 in Berlin and 07:00 in Lima: all of them wait for their night.
    await row(/Europe\/Berlin 2 devices.*from .*, 02:00/).waitFor()
    await row(/America\/Lima 1 device.*from .*, 02:00/).waitFor()
    await row(/UTC 1 device.*from .*, 02:00/).waitFor()
    assert.equal(await strip.getByRole('listitem').count(), 3)
    await page.getByLabel('Roll out in steps').check()
    await page.getByLabel('Canary devices').fill('1')
    await page.getByLabel('Soak time').fill('2 h')
    await strip.getByText('The rollout takes at least 2 h more').waitFor()
    await checkLook(page)
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.waitForURL(`${own.http}/schedules/nightly`)
    await row(/Europe\/Berlin 2 devices.*from .*, 02:00/).waitFor()
    assert.equal(
      (await own.call('POST', '/job/api/fleet/freeze', { body: { reason: 'Black Friday' } })).status,
      200,
    )
    await page.reload()
    await strip.getByText('no device gets it until it is unfrozen').waitFor()
    await row(/Europe\/Berlin.*not yet known/).waitFor()
    await checkLook(page)
  },
)

chaosTest('the calendar shows future runs and the windows by zone, in the stated zone', async (t) => {
  const own = await openOwner()
  const make = (path: string, body: object) => own.call('PUT', `/job/api/${path}`, { body })
  const page = await openSignedIn(t, own, '/calendar', berlin)
  await page.getByText('No schedules yet').waitFor()
  await make('jobs/logs', {})
  await make('devices/a', {})
  const content = { jobName: 'logs', targets: { where: 'all' } }
  await make('schedules/nightly', { ...content, when: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' } })
  await make('schedules/hourly', { ...content, when: { cron: '*/10 * * * *', timeZone: 'UTC' } })
  await make('windows/nights', { cron: '0 2 * * *', durationMinutes: 180 })
  const startAt = new Date(Date.now() + 2 * 86_400_000).toISOString()
  await own.call('POST', '/job/api/runs', { body: { ...content, startAt } })
  await page.goto(`${own.http}/calendar`)
  await page.getByText('Times in Europe/Berlin.').waitFor()
  const days = page.getByRole('region', { name: 'Week, times in Europe/Berlin' }).getByRole('region')
  const tomorrow = days.nth(1)
  await tomorrow.getByRole('link', { name: '03:00 nightly' }).waitFor()
  assert.equal(await days.count(), 7)
  await tomorrow.getByRole('link', { name: /^nights Europe\/Berlin$/ }).waitFor()
  await page.getByRole('link', { name: /^\d\d:\d\d logs \(run \d+\)$/ }).waitFor()
  await page.getByText('Not all entries are shown. There are more: hourly.').waitFor()
  assert.ok((await page.getByText('6 times this hour').count()) > 3)
  await checkLook(page)
  // In the time of somebody else, with the windows of devices in a third zone.
  await page.getByRole('combobox', { name: 'Times in' }).fill('UTC')
  await page
    .getByRole('button', { name: 'Remove Europe/Berlin' })
    .or(page.getByRole('button', { name: 'Remove UTC' }))
    .click()
  await page.getByLabel('Windows of devices in').fill('Asia/Tokyo')
  await page.keyboard.press('Enter')
  await page.getByText('Times in UTC.').waitFor()
  await page
    .getByRole('link', { name: /^0[12]:00 nightly$/ })
    .first()
    .waitFor()
  const tokyo = page.getByRole('link', { name: 'nights Asia/Tokyo' })
  assert.match((await tokyo.nth(1).getAttribute('title')) ?? '', /17:00 to 20:00, for Asia\/Tokyo/)
  await page.getByRole('button', { name: 'Next week' }).click()
  await page.waitForURL(/from=\d{4}-\d\d-\d\d/)
  await tokyo.first().waitFor()

  const phone = await openWithKey(t, own, own.adminKey, { ...narrow, ...berlin, path: '/calendar' })
  await phone.getByRole('link', { name: '02:00 to 05:00 nights Europe/Berlin' }).first().waitFor()
  await checkLook(phone)
})

chaosTest('a run starts later, which the page of the trigger and of the run say with a zone', async (t) => {
  await put('jobs/later', {})
  const page = await openSignedIn(t, server, '/trigger?jobName=later&deviceId=d1', berlin)
  const at = page.getByLabel('Start at, in Europe/Berlin time')
  await at.fill('2020-01-01T00:00')
  await page.getByText('Must be in the future.').waitFor()
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  await at.fill(`${day}T12:00`)
  await page
    .getByRole('region', { name: 'The same call' })
    .getByText(/"startAt":"[\d-]+T1[01]:00:00Z"/)
    .waitFor()
  await page.getByRole('button', { name: 'Trigger later on 1 device' }).click()
  await page.getByText('Scheduled').waitFor()
  await page
    .getByText(/, 12:00:00 (CES?T|GMT\+[12])/)
    .first()
    .waitFor()
})
