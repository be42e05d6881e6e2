// Runs that are released in waves, approvals, and the freeze of the fleet.

import assert from 'node:assert/strict'
import { type DeviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { waitUntil } from '@jobcast/testkit/wait-until'
import type { Page } from 'playwright-core'
import { chaosTest, test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openOwner, openSharedServer, openSignedIn, openWithKey } from './open-console.ts'

const server = await openOwner()
await server.call('PUT', '/job/api/jobs/update', { body: {} })
const { ownerId } = (await server.call('GET', '/job/api/keys/self')).json

const keyWith = async (...scopes: ('READ' | 'TRIGGER' | 'MANAGE' | 'APPROVE')[]) =>
  (await (await openSharedServer()).newKey(scopes, { ownerId })).apiKey

type Launched = { runId: number; devices: DeviceCalls[] }

/** On devices of its own, in the order of their names. */
async function rollOut(names: string[], content: object): Promise<Launched> {
  const devices = await Promise.all(names.map((name) => newDevice(server, name)))
  const body = { jobName: 'update', targets: { deviceIds: names }, ...content }
  const { json, status } = await server.call('POST', '/job/api/runs', { body })
  assert.equal(status, 201, JSON.stringify(json))
  return { runId: json.runId, devices }
}

async function end(device: DeviceCalls | undefined, status: string): Promise<void> {
  const { json } = (await device?.startNext()) ?? {}
  await device?.update(Number(json.execution.jobId), status)
}

const stateOf = async (runId: number) =>
  (await server.call('GET', `/job/api/runs/${runId}`)).json.rollout.state

const confirm = async (page: Page, button: string, confirmed = button) => {
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: confirmed, exact: true }).click()
}

const narrow = { colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const

async function checkLook(page: Page): Promise<void> {
  assert.deepEqual(await findViolations(page), [])
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.ok(excess <= 0, `${excess} pixels too wide`)
}

const waves = [{ size: 1 }, { size: 2 }, { size: '100%' }]

test('a rollout is shown wave by wave with the cause of its pause, and is resumed, advanced and paused', async (t) => {
  const { runId, devices } = await rollOut(['w1', 'w2', 'w3', 'w4'], {
    rollout: { order: 'GIVEN', waves, next: { succeededPercent: 100 }, stop: [{ on: ['FAILED'], count: 1 }] },
  })
  const page = await openSignedIn(t, server, `/runs/${runId}`)
  const rollout = page.getByRole('region', { name: 'Rollout' })
  const total = (text: string) =>
    rollout.getByRole('list', { name: 'In total' }).getByRole('listitem').filter({ hasText: text }).waitFor()
  await rollout.getByText('Rolling out wave 1 of 3').waitFor()
  await total('3 held back')
  const lane = (number: number) =>
    rollout
      .getByRole('listitem')
      .filter({ hasText: `Wave ${number}` })
      .getByRole('img')
  assert.equal(await lane(1).getAttribute('aria-label'), '1 not started')
  assert.equal(await lane(2).locator('.part-held').count(), 2, 'a cell for each device')
  await rollout.locator('.gate.waited-for').getByText('0 of 1 succeeded').waitFor()
  assert.equal(await rollout.locator('.gate').count(), 2)
  await rollout.getByText('0 failed, pauses at 1').waitFor()

  await end(devices[0], 'SUCCEEDED')
  await rollout.getByText('Rolling out wave 2 of 3').waitFor()
  await rollout.locator('.gate.open').getByText('opened').waitFor()
  const second = rollout.getByRole('listitem').filter({ hasText: 'Wave 2' })
  await second.getByText('2 of 2 released').waitFor()

  await end(devices[1], 'FAILED')
  await rollout.getByText('Paused: 1 of 2 ended executions of the run are FAILED (stop rule)').waitFor()
  await second.getByText('1 failed, 1 not started').waitFor()
  const causes = rollout.getByRole('list', { name: 'Devices that caused it' }).getByRole('listitem')
  assert.deepEqual(await causes.allTextContents(), ['w2 failed'])
  const cause = rollout.getByRole('link', { name: 'Show the execution that caused it' })
  assert.equal(await cause.getAttribute('href'), `/executions?runId=${runId}&execState=FAILED`)

  await checkLook(page)
  await confirm(page, 'Resume')
  await rollout.getByText('Rolling out wave 2 of 3').waitFor()
  await confirm(page, 'Pause')
  await rollout.getByText(/Paused: it was paused manually \(key test\)/).waitFor()
  assert.equal(await stateOf(runId), 'PAUSED')
  await confirm(page, 'Advance', 'Start wave 3')
  await rollout.getByText('Released to all devices').waitFor()
  assert.equal(await rollout.getByRole('button').count(), 0)
  for (const text of ['1 succeeded', '1 failed', '2 not started']) await total(text)
})

chaosTest('a paused run is resumed without some of its devices', async (t) => {
  const { runId, devices } = await rollOut(['n1', 'n2', 'n3', 'n4'], { rollout: { order: 'GIVEN', waves } })
  const shown = async () => (await server.call('GET', `/job/api/runs/${runId}`)).json.rollout
  await waitUntil('the first wave is released', async () => (await shown()).released === 1)
  await end(devices[0], 'FAILED')
  const page = await openSignedIn(t, server, `/runs/${runId}`, { expected: [/400/] })
  const rollout = page.getByRole('region', { name: 'Rollout' })
  await rollout.getByRole('button', { name: 'Resume without…' }).click()
  const dialog = page.getByRole('dialog')
  const submit = dialog.getByRole('button', { name: 'Resume', exact: true })
  assert.equal(await submit.isDisabled(), true)
  await dialog.getByLabel('Devices').fill('n2\nnobody\n')
  await submit.click()
  await dialog.getByText(`Run ${runId} has no device "nobody". (J-500)`).waitFor()
  await checkLook(page)
  await dialog.getByLabel('Devices').fill('n2\n\n n4 ')
  await submit.click()
  await rollout.getByText('Rolling out wave 2 of 3').waitFor()
  await rollout.locator('.gate.waited-for').getByText('0 of 1 succeeded').waitFor()
  const { counts } = (await server.call('GET', `/job/api/runs/${runId}`)).json
  assert.deepEqual([counts.CANCELED, counts.PENDING], [2, 1])
  await server.call('POST', `/job/api/runs/${runId}/cancel`)
})

chaosTest('a gate shows pending reports of devices, the soak time, and the awaited approval', async (t) => {
  const next = { where: 'gated=2', onMissing: 'WAIT', soakSeconds: 3600, action: 'APPROVAL' }
  const stop = [{ on: ['FAILED'], percent: 50, minEnded: 4 }]
  const { runId, devices } = await rollOut(['q1', 'q2', 'q3'], {
    rollout: { order: 'GIVEN', waves: [{ size: 2 }, { size: '100%' }], next, stop },
  })
  const page = await openSignedIn(t, server, `/runs/${runId}`)
  const gate = page.locator('.gate.waited-for')
  await gate.getByText('0 of 2 report gated=2').waitFor()
  await gate.getByText('then awaits approval').waitFor()
  await page.getByText('0 of 0 failed, pauses at 50 % once 4 have ended').waitFor()
  for (const device of devices.slice(0, 2)) await end(device, 'SUCCEEDED')
  await page.getByText('0 of 2 failed, pauses at 50 %').waitFor()
  // That is no event of the run.
  for (const [index, name] of ['q1', 'q2'].entries()) {
    await fetch(`${server.http}/things/${name}/attributes`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${devices[index]?.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ gated: 2 }),
    })
  }
  await gate.getByText('2 of 2 report gated=2').waitFor()
  await gate.getByText(/^soak (01:00:00|00:5\d:\d\d) left$/).waitFor()
  await checkLook(page)

  await confirm(page, 'Advance', 'Start wave 2')
  await gate.getByText('awaits approval of somebody else, 0 of 1 given').waitFor()
  await server.call('POST', `/job/api/runs/${runId}/cancel`)
})

chaosTest(
  'items that need attention are on top of the fleet, in the title and in wall mode, and are resumed there',
  async (t) => {
    const owner = await openOwner()
    await owner.call('PUT', '/job/api/jobs/update', { body: {} })
    const devices = await Promise.all(['n1', 'n2'].map((name) => newDevice(owner, name)))
    const page = await openSignedIn(t, owner, '/', { viewport: { width: 1920, height: 1080 } })
    await page.getByText('Nothing needs your attention.').waitFor()
    const rollout = { order: 'GIVEN', waves: [{ size: 1 }, { size: '100%' }] }
    const body = { jobName: 'update', targets: { deviceIds: ['n1', 'n2'] }, rollout }
    const { json } = await owner.call('POST', '/job/api/runs', { body })
    await waitUntil('the first wave is released', async () => {
      const run = await owner.call('GET', `/job/api/runs/${json.runId}`)
      return run.json.rollout.released === 1
    })
    await end(devices[0], 'FAILED')
    const strip = page.getByRole('region', { name: 'Needs attention' })
    await strip.getByText('update is paused').waitFor()
    await strip.getByText('in wave 1 of 2: 1 of 1 devices of wave 1 did not succeed').waitFor()
    assert.equal(
      await strip.getByRole('link', { name: 'Review' }).getAttribute('href'),
      `/runs/${json.runId}`,
    )
    await page
      .getByRole('navigation')
      .getByRole('link', { name: 'Fleet' })
      .getByText('1', { exact: true })
      .waitFor()
    await page.waitForFunction(() => document.title === '(1) Fleet · Jobcast')
    await page.getByRole('region', { name: 'Runs now' }).getByText('paused 1/2').waitFor()
    await checkLook(page)

    await page.getByRole('button', { name: 'Wall mode' }).click()
    await page.locator('.wall-clock').waitFor()
    await strip.getByText('update is paused').waitFor()
    await page.getByRole('button', { name: 'Leave wall mode' }).click()

    await strip.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Nothing needs your attention.').waitFor()
    await page.waitForFunction(() => document.title === 'Fleet · Jobcast')
  },
)

chaosTest('a run that has not begun shows what holds it back, on its page and in the lists', async (t) => {
  const startAt = new Date(Date.now() + 5 * 60 * 60_000).toISOString()
  const { runId } = await rollOut(['h1', 'h2'], { startAt })
  const page = await openSignedIn(t, server, `/runs/${runId}`)
  const state = page.getByRole('region', { name: 'State', exact: true })
  await state.getByText(new RegExp(`Run ${runId} starts at `)).waitFor()
  await page.getByText(/, waiting for /).waitFor()
  assert.equal(await page.locator('.time-chart').count(), 0)
  await page.goto(`${server.http}/runs?rolloutState=SCHEDULED`)
  await page
    .getByRole('row')
    .getByText(/^starts in /)
    .filter({ visible: true })
    .first()
    .waitFor()
  await page.getByLabel('Rollout').selectOption('Paused')
  await page.getByText('No runs match').waitFor()
  await server.call('POST', `/job/api/runs/${runId}/cancel`)
})

chaosTest(
  'a rollout in progress is changed, as fields or as JSON, with what is refused at its field',
  async (t) => {
    const { runId } = await rollOut(['c1', 'c2', 'c3', 'c4'], {
      rollout: { waves, ratePerMinute: 1, next: { soakSeconds: 60 } },
    })
    const page = await openSignedIn(t, server, `/runs/${runId}`, { expected: [/400/] })
    const definition = async () =>
      (await server.call('GET', `/job/api/runs/${runId}`)).json.rollout.definition
    const dialog = page.getByRole('dialog')
    const change = dialog.getByRole('button', { name: 'Change' })
    await page.getByRole('button', { name: 'Change…' }).click()
    const field = dialog.getByLabel('Waves', { exact: true })
    assert.equal(await field.inputValue(), '1, 2, 100%')
    assert.equal(await dialog.getByLabel('Soak time').inputValue(), '1 min')
    await field.fill('2, 100%')
    await change.click()
    await dialog.getByText(/must stay 1: that wave has already started\. \(J-500\)/).waitFor()
    assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
    await field.fill('1, 100%')
    await dialog.getByLabel('Devices per minute').fill('600')
    await change.click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Rolling out wave 1 of 2').waitFor()
    const changed = { waves: [{ size: 1 }, { size: '100%' }], ratePerMinute: 600, next: { soakSeconds: 60 } }
    assert.deepEqual(await definition(), changed)

    await page.getByRole('button', { name: 'Change…' }).click()
    await dialog.getByRole('button', { name: 'Edit as JSON' }).click()
    const json = dialog.getByLabel('Rollout')
    await json.fill('{ "stop": [{ "on": ["FAILED"] }] }')
    await change.click()
    await dialog.getByText('rollout.stop[0] must have either percent or count.').waitFor()
    const grown = { ...changed, growth: { factor: 2, afterSucceeded: 1000 } }
    await json.fill(JSON.stringify(grown))
    await change.click()
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(await definition(), grown)
    // The fields have no place for it.
    await page.getByRole('button', { name: 'Change…' }).click()
    assert.deepEqual(JSON.parse(await json.inputValue()), grown)
  },
)

chaosTest('what a key may not do to a rollout is disabled, with the reason', async (t) => {
  const { runId } = await rollOut(['k1', 'k2'], { rollout: { waves } })
  const page = await openWithKey(t, server, await keyWith('READ'), {
    ...narrow,
    path: `/runs/${runId}`,
  })
  await page.getByText('To pause, resume, advance or change it, a key needs the MANAGE scope.').waitFor()
  await checkLook(page)
  for (const name of ['Pause', 'Advance', 'Change…'])
    assert.ok(await page.getByRole('button', { name, exact: true }).isDisabled())

  // Created with the key of this page, and without the scope at that.
  const own = await rollOut(['k3'], { approval: true })
  const mine = await openSignedIn(t, server, `/runs/${own.runId}`)
  await mine.getByText('To approve or deny it, a key needs the APPROVE scope.').waitFor()
  assert.ok(await mine.getByRole('button', { name: 'Approve' }).isDisabled())
  assert.ok(await mine.getByRole('button', { name: 'Deny' }).isDisabled())
})

test('runs that wait for approval are counted in the navigation, and approved or denied there', async (t) => {
  const approver = await keyWith('READ', 'APPROVE')
  const page = await openWithKey(t, server, approver, { path: '/approvals' })
  const link = page.getByRole('navigation').getByRole('link', { name: 'Approvals' })
  const waiting = page.getByRole('list', { name: 'Approvals' }).getByRole('listitem')
  // What other tests have left.
  const { json } = await server.call('GET', '/job/api/runs?rolloutState=AWAITING_APPROVAL')
  for (const { runId } of json.items) await server.call('POST', `/job/api/runs/${runId}/cancel`)
  await page.getByText('Nothing to approve').waitFor()

  const first = await rollOut(['i1', 'i2'], { approval: true, rollout: { waves }, note: 'Ticket 4711' })
  const second = await rollOut(['i3'], { approval: true })
  await link.getByText('2', { exact: true }).waitFor()
  const answer = async ({ runId }: Launched, name: string) => {
    const row = waiting.filter({ hasText: `run ${runId},` })
    await row.getByRole('button', { name, exact: true }).click()
    await page.getByLabel('Comment').fill('Looked at it')
    assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
    await row.waitFor({ state: 'detached' })
  }
  await waiting.getByText('Ticket 4711').waitFor()
  await checkLook(page)
  await answer(first, 'Approve')
  await link.getByText('1', { exact: true }).waitFor()
  await answer(second, 'Deny')
  await page.getByText('Nothing to approve').waitFor()
  assert.deepEqual(await Promise.all([first, second].map(({ runId }) => stateOf(runId))), [
    'ROLLING_OUT',
    'DENIED',
  ])

  // It is another key than the one that created it, but not another one than this.
  const own = await keyWith('READ', 'TRIGGER', 'APPROVE')
  const body = { jobName: 'update', targets: { deviceIds: ['i1'] }, approval: true }
  const made = await server.call('POST', '/job/api/runs', { key: own, body })
  const mine = await openWithKey(t, server, own, { path: '/approvals' })
  await mine
    .getByText('1 run waits for someone else: you created, changed, fired or already approved it.')
    .waitFor()
  await mine.getByText('Nothing to approve').waitFor()
  await page.goto(`${server.http}/runs/${second.runId}`)
  await page.getByText(/Denied: Looked at it/).waitFor()
  const decided = page.getByRole('list', { name: 'Decisions' }).getByRole('listitem')
  assert.match((await decided.textContent()) ?? '', /^Denied by key \w+ .*: Looked at it$/)
  await server.call('POST', `/job/api/runs/${made.json.runId}/cancel`)
})

chaosTest('a freeze is shown with its reason to everyone on every page, until it is ended', async (t) => {
  const reader = await openWithKey(t, server, await keyWith('READ'), { ...narrow, path: '/jobs' })
  const page = await openSignedIn(t, server, '/')
  await page.getByRole('button', { name: 'Freeze…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('No changes before Christmas')
  await dialog.getByLabel('Until').fill('2020-01-01T00:00')
  await dialog.getByText('Must be in the future.').waitFor()
  assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
  assert.ok(await dialog.getByRole('button', { name: 'Freeze' }).isDisabled())
  await dialog.getByLabel('Until').fill('')
  await dialog.getByRole('button', { name: 'Freeze' }).click()
  const said = 'The fleet is frozen: No changes before Christmas'
  await page.getByText(said).waitFor()
  await reader.getByText(said).waitFor()
  await checkLook(reader)
  assert.equal(await reader.getByRole('button', { name: 'Unfreeze' }).count(), 0)
  assert.equal((await server.call('GET', '/job/api/fleet/freeze')).json.frozen, true)

  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByText(said).waitFor()
  await confirm(page, 'Unfreeze')
  await page.getByText(said).waitFor({ state: 'detached' })
  await reader.getByText(said).waitFor({ state: 'detached' })
  assert.equal((await server.call('GET', '/job/api/fleet/freeze')).json.frozen, false)
})

chaosTest(
  'a trigger in waves shows its plan, shows errors at the fields, and creates the requested run',
  async (t) => {
    for (const name of ['t1', 't2', 't3', 't4', 't5', 't6'])
      await server.call('PUT', `/job/api/devices/${name}`, { body: { tags: ['planned'] } })
    const { token } = await newDevice(server, 'reports-fw')
    await fetch(`${server.http}/things/reports-fw/attributes`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ fw: '2.4.0' }),
    })
    const page = await openSignedIn(t, server, '/trigger?jobName=update&where=tag%3Dplanned', {
      expected: [/400/],
    })
    await page.getByLabel('Roll out in steps').check()
    await page.getByLabel('Canary devices').fill('1')
    const planned = page.getByRole('list', { name: 'Planned waves' }).getByRole('listitem')
    await planned.filter({ hasText: 'Wave 2: 5 devices' }).waitFor()
    // The gate by keyboard; what it changes is in the fields.
    const gate = page.getByRole('slider', { name: 'Move the gate after wave 1' })
    await gate.press('ArrowRight')
    await planned.filter({ hasText: 'Wave 2: 4 devices' }).waitFor()
    assert.equal(await page.getByLabel('Canary devices').inputValue(), '2')
    await gate.press('ArrowLeft')
    await page.getByRole('button', { name: 'Split wave 2' }).click()
    await planned.filter({ hasText: 'Wave 3: 2 devices' }).waitFor()
    assert.equal(await page.getByLabel('Waves', { exact: true }).inputValue(), '3, 100%')
    await page.getByRole('button', { name: 'Remove the gate after wave 2' }).click()
    await page.getByText('Wave 2 of 5 devices is released at once.').waitFor()
    await page.getByLabel('Waves', { exact: true }).fill('a few')
    await page.getByText('Use a format such as 10%, 50%, 100%.').waitFor()
    const trigger = page.getByRole('button', { name: /^Trigger/ })
    assert.ok(await trigger.isDisabled())
    await page.getByLabel('Waves', { exact: true }).fill('2, 2')
    await page.getByText(/The waves do not include 1 of the devices.*\(J-500\)/).waitFor()
    await page.getByLabel('Waves', { exact: true }).fill('2, 100%')
    await planned.filter({ hasText: 'Wave 3: 3 devices' }).waitFor()
    await page.getByLabel('Devices per minute').fill('200')
    await page.getByLabel('Succeeded, in percent').fill('95')
    await page.getByLabel('Reported attributes').fill('fw=')
    await page.getByText(/^Character \d+: /).waitFor()
    await page.getByLabel('Reported attributes').fill('fw=2.4.1')
    await page.getByLabel('Soak time').fill('1 h')
    await page.getByLabel('Pause at failures, in percent').fill('5')
    await page.getByLabel('After at least this many have ended').fill('20')
    await page.getByLabel('Needs approval').check()
    const rollout = {
      waves: [{ size: 1 }, { size: 2 }, { size: '100%' }],
      ratePerMinute: 200,
      next: { succeededPercent: 95, where: 'fw=2.4.1', soakSeconds: 3600 },
      stop: [{ on: ['FAILED', 'TIMED_OUT', 'REJECTED'], percent: 5, minEnded: 20 }],
    }
    const body = { jobName: 'update', targets: { where: 'tag=planned' }, rollout, approval: true }
    const holds = page.getByRole('list', { name: 'What will hold it back' }).getByRole('listitem')
    await holds.filter({ hasText: 'The run waits for approval' }).waitFor()
    await page.getByText('can hold nothing back: its minEnded is 20').waitFor()
    const call = page.getByRole('region', { name: 'The same call' })
    await call.getByText(JSON.stringify(body)).waitFor()
    await checkLook(page)
    const sent = page.waitForRequest((request) => request.url().endsWith('/job/api/runs'))
    await trigger.filter({ hasText: 'Trigger update on 6 devices' }).click()
    const { planId, ...beside } = (await sent).postDataJSON()
    assert.deepEqual(beside, {}, 'the plan says all of it')
    assert.match(planId, /./)
    await page.getByText('Waiting for approval by somebody else').waitFor()
    const sizes = page.getByRole('list', { name: 'Waves' }).getByRole('listitem')
    assert.equal(await sizes.count(), 3)

    // Devices one by one as well.
    await page.goto(`${server.http}/trigger?jobName=update&deviceId=t1&deviceId=t2`)
    await page.getByLabel('Roll out in steps').check()
    await page.getByLabel('Canary devices').fill('1')
    await planned.filter({ hasText: 'Wave 2: 1 device' }).waitFor()
    await trigger.filter({ hasText: 'on 2 devices' }).click()
    await page.getByText('Rolling out wave 1 of 2').waitFor()
  },
)
