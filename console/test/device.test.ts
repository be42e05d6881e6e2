import assert from 'node:assert/strict'
import { deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import type { Page } from 'playwright-core'
import { chaosTest, test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openOwner, openSignedIn, typeFirst } from './open-console.ts'

const server = await openOwner()
await server.call('PUT', '/job/api/jobs/restart', { body: {} })
await server.call('PUT', '/job/api/jobs/update', { body: {} })

/** A token as the page shows it. */
const shownToken = (page: Page) => page.getByText(/^jd_\w+$/)

const confirm = async (page: Page, label: string, button = label) => {
  await page.getByRole('button', { name: label, exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click()
}

test('a device is created, gets a token that is shown only once, is changed, and deleted', async (t) => {
  // Whether there is one of this name already is asked for; its deletion is told while it is shown.
  const page = await openSignedIn(t, server, '/devices', { expected: [/404/] })
  await page.getByRole('button', { name: 'New device' }).click()
  const dialog = page.getByRole('dialog', { name: 'New device' })
  await typeFirst(page, 'kiosk-1')
  await dialog.getByLabel('Name').fill('Kiosk in the hall')
  await dialog.getByLabel('Tags').fill('hall,')
  await dialog.getByLabel('Tags').pressSequentially('berlin')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Remove berlin' }).waitFor()
  await dialog.getByRole('button', { name: 'Create device' }).click()
  await page.waitForURL(`${server.http}/devices/kiosk-1`)
  await page.getByText('Kiosk in the hall').waitFor()
  await page.getByRole('link', { name: 'berlin' }).waitFor()
  await page.getByText('Never connected.').waitFor()

  await page.getByRole('button', { name: 'Create token' }).click()
  const first = (await shownToken(page).textContent()) as string
  const line = `mkdir -p handlers && JOBCAST_DEVICE_TOKEN=${first} npx --no-install jobcast agent --server=${server.http} --device=kiosk-1 --handlers=handlers`
  await page.getByText(line).waitFor()
  const device = deviceCalls(server.http, 'kiosk-1', first)
  assert.equal((await device.call('GET', '')).status, 200)
  await page.getByText('connected', { exact: true }).waitFor()
  const activity = page.getByRole('region', { name: 'Activity' }).getByRole('listitem')
  await activity.filter({ hasText: 'Connected' }).waitFor()
  await activity.filter({ hasText: 'Created' }).waitFor()
  await activity.filter({ hasText: 'Token set' }).waitFor()
  await page
    .getByText('MQTT', { exact: true })
    .or(page.getByText('HTTP', { exact: true }))
    .waitFor()

  await page.getByRole('link', { name: 'Devices', exact: true }).click()
  await page.getByRole('cell', { name: 'Kiosk in the hall' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Rotate token' }).waitFor()
  assert.equal(await shownToken(page).count(), 0)

  await confirm(page, 'Rotate token')
  const second = (await shownToken(page).textContent()) as string
  assert.notEqual(second, first)
  assert.equal((await device.call('GET', '')).status, 401)
  await page.getByRole('button', { name: 'Done' }).click()
  await shownToken(page).waitFor({ state: 'detached' })
  await confirm(page, 'Revoke and disconnect', 'Revoke')
  await page.getByText('No token: the device cannot connect.').waitFor()
  assert.equal((await deviceCalls(server.http, 'kiosk-1', second).call('GET', '')).status, 401)

  // What is not edited is kept.
  const content = {
    deviceName: 'Kiosk in the hall',
    tags: ['hall', 'berlin'],
    attributes: { site: 'berlin' },
  }
  await server.call('PUT', '/job/api/devices/kiosk-1', { body: content })
  await page.getByText('berlin', { exact: true }).nth(1).waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog')
  await edit.getByLabel('Name', { exact: true }).fill('Kiosk at the door')
  await edit.getByRole('button', { name: 'Remove hall' }).click()
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Kiosk at the door').waitFor()
  const { json } = await server.call('GET', '/job/api/devices/kiosk-1')
  assert.deepEqual([json.deviceName, json.tags], ['Kiosk at the door', ['berlin']])
  assert.deepEqual(json.attributes, { site: 'berlin' })

  await confirm(page, 'Delete device')
  await page.waitForURL(`${server.http}/devices`)
  await page.getByRole('link', { name: 'kiosk-1', exact: true }).waitFor({ state: 'detached' })
  assert.equal((await server.call('GET', '/job/api/devices/kiosk-1')).status, 404)
})

chaosTest('an existing device is not overwritten', async (t) => {
  await newDevice(server, 'taken')
  const page = await openSignedIn(t, server, '/devices')
  await page.getByRole('button', { name: 'New device' }).click()
  await page.getByLabel('Device ID').fill('taken')
  await page.keyboard.press('Enter')
  await page.getByText('Device taken already exists.').waitFor()
})

chaosTest('a device that does not exist is reported as not found', async (t) => {
  const page = await openSignedIn(t, server, '/devices/nobody', { expected: [/404/] })
  await page.getByText('Device not found').waitFor()
})

chaosTest(
  'its queue in order and its last executions follow what happens, and the strip is walked by keyboard',
  async (t) => {
    const device = await newDevice(server, 'worker')
    const page = await openSignedIn(t, server, '/devices/worker')
    await page.getByText('Queue is empty').waitFor()
    await page.getByText('No executions yet').waitFor()
    const ids: number[] = []
    for (const jobName of ['restart', 'update', 'restart']) {
      ids.push((await server.trigger(jobName, ['worker'])).json[0].jobExecutionId)
    }
    const queue = page.locator('.queue li')
    await page.getByText('3 waiting', { exact: true }).first().waitFor()
    await queue.nth(2).waitFor()
    assert.deepEqual(await queue.locator('a').allTextContents(), [
      `restart #${ids[0]}`,
      `update #${ids[1]}`,
      `restart #${ids[2]}`,
    ])
    await device.startNext()
    await queue.first().getByText('running').waitFor()
    await device.update(ids[0] as number, 'FAILED')
    await page.getByText('1 failed, 2 waiting').waitFor()
    await queue.nth(2).waitFor({ state: 'detached' })

    await page.locator('.strip a[tabindex="0"]').focus()
    await page.keyboard.press('Home')
    await page.locator('.strip-note').filter({ hasText: 'restart: failed' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.locator('.strip-note').filter({ hasText: 'update: waiting' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${server.http}/executions/${ids[1]}`)
  },
)

chaosTest('the queue names the attempt that comes next', async (t) => {
  await server.call('PUT', '/job/api/jobs/flaky', { body: { retry: { max: 2, backoffSeconds: 600 } } })
  const device = await newDevice(server, 'retrying')
  const [{ jobExecutionId }] = (await server.trigger('flaky', ['retrying'])).json
  await device.startNext()
  await device.update(jobExecutionId, 'FAILED')
  const page = await openSignedIn(t, server, '/devices/retrying')
  await page
    .locator('.queue')
    .getByText(/^attempt 2 in /)
    .waitFor()
})

test('devices come from a table, are filtered by a selector, and triggered by it', async (t) => {
  const page = await openSignedIn(t, server, '/devices')
  await page.getByRole('button', { name: 'Import CSV' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import devices' })
  const table =
    'deviceId;tags;site\r\nsluice-1;sluices,north;"Berlin; hall"\r\nbad/one;;\r\nsluice-2;sluices;Lima\r\n'
  await dialog
    .getByLabel('CSV file')
    .setInputFiles({ name: 'devices.csv', mimeType: 'text/csv', buffer: Buffer.from(table) })
  await dialog.getByText('3 devices with the attributes site').waitFor()
  await dialog.getByText('Would create 2, change 0 and leave 0 as they are, 1 refused').waitFor()
  await dialog.getByRole('button', { name: 'Import 3 devices' }).click()
  await dialog.getByText('2 created, 0 updated, 0 unchanged, 1 refused').waitFor()
  await dialog.getByText(/^Line 3: /).waitFor()
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()

  const filter = page.getByLabel('Filter', { exact: true })
  await filter.fill('site=')
  await page.getByText(/^Character 6, the end: /).waitFor()
  await filter.fill('sluic')
  await page.getByText('2 devices match: 0 online, 0 busy').waitFor()
  await filter.fill('site="Berlin; hall"')
  await page.getByLabel('Presence').selectOption('Offline')
  await page.getByText('1 device matches').waitFor()
  const rows = page.getByRole('table').getByRole('link', { name: /^sluice-\d$/ })
  await rows.filter({ hasText: 'sluice-2' }).waitFor({ state: 'detached' })
  assert.deepEqual(await rows.allTextContents(), ['sluice-1'])
  const trigger = page.getByRole('link', { name: 'Trigger on all matching devices' })
  const where = '(site="Berlin; hall") and (not online)'
  assert.equal(await trigger.getAttribute('href'), `/trigger?${new URLSearchParams({ where })}`)
  await trigger.click()
  await page.getByRole('combobox', { name: 'Job' }).fill('restart')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'The same call' }).getByText('/job/api/runs').waitFor()
  await page.getByRole('button', { name: 'Trigger restart on 1 device' }).click()
  await page.waitForURL(/\/runs\/\d+$/)
  await page.getByRole('table').getByRole('link', { name: 'sluice-1' }).waitFor()
})

chaosTest('all devices that match are selected, changed after a count, and become a group', async (t) => {
  for (const deviceId of ['lock-1', 'lock-2', 'lock-3']) {
    const body = { tags: ['locks'], attributes: { site: `site of ${deviceId}` } }
    await server.call('PUT', `/job/api/devices/${deviceId}`, { body })
  }
  const page = await openSignedIn(t, server, '/devices?tag=locks&columns=site,fw', { expected: [/404/] })
  await page.getByText('site of lock-2').waitFor()
  await page.getByLabel('Select all that match').check()
  await page.getByLabel('Select lock-3').uncheck()
  const bar = page.getByRole('region', { name: 'Selected devices' })
  await bar.getByText('All that match: 2 devices').waitFor()
  const where = '(tag="locks") and (not deviceId in ("lock-3"))'
  const trigger = bar.getByRole('link', { name: 'Trigger on 2 devices' })
  assert.equal(await trigger.getAttribute('href'), `/trigger?${new URLSearchParams({ where })}`)
  await bar.getByRole('button', { name: 'Tags and attributes…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Add tags').fill('berlin,')
  await dialog.getByRole('button', { name: 'Add attribute' }).click()
  await dialog.getByLabel('Name of new attribute').fill('fw')
  await dialog.getByLabel('Value of fw').fill('2.10')
  await dialog.getByText('2 devices selected: 2 would change.').waitFor()
  assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
  await dialog.getByRole('button', { name: 'Change 2 devices' }).click()
  await page.getByRole('cell', { name: '2.10' }).nth(1).waitFor()
  const changed = (await server.call('GET', '/job/api/devices/lock-1')).json
  assert.deepEqual([changed.tags, changed.attributes.fw], [['berlin', 'locks'], '2.10'])
  await bar.getByRole('button', { name: 'Make a group…' }).click()
  await dialog.getByLabel('Name').fill('some-locks')
  await dialog.getByRole('button', { name: 'Create group' }).click()
  await page.waitForURL(`${server.http}/groups/some-locks`)
  await page.getByText('2 devices: 0 online, 0 busy').waitFor()
})

chaosTest(
  'all devices of an invalid or too long selector cannot be selected, and no column shows inherited properties',
  async (t) => {
    for (const deviceId of ['hatch-1', 'hatch-2'])
      await server.call('PUT', `/job/api/devices/${deviceId}`, { body: { tags: ['hatches'] } })
    const query = new URLSearchParams({
      ...{ tag: 'hatches', columns: 'constructor' },
      where: `not deviceName="${'x'.repeat(4040)}"`,
    })
    const page = await openSignedIn(t, server, `/devices?${query}`, { expected: [/400/] })
    await page.getByLabel('Select all that match').check()
    const bar = page.getByRole('region', { name: 'Selected devices' })
    await bar.getByText('All that match: 2 devices').waitFor()
    assert.doesNotMatch((await page.getByRole('table').textContent()) ?? '', /function|native/)
    await page.getByLabel('Select hatch-1').uncheck()
    await bar.getByText('J-503').waitFor()
    assert.equal(await bar.getByRole('link', { name: 'Trigger on' }).count(), 0)
    await page.getByLabel('Filter').fill('site=')
    await page.getByText(/^Character 6/).waitFor()
    assert.equal(await page.getByLabel('Select all that match').count(), 0)
    assert.equal(await bar.count(), 0)
  },
)

chaosTest('devices are filtered, found by a part of their id, and picked for a trigger', async (t) => {
  for (const deviceId of ['gate-1', 'gate-2', 'far-gate']) {
    await server.call('PUT', `/job/api/devices/${deviceId}`, { body: { tags: ['gates'] } })
  }
  const page = await openSignedIn(t, server, '/devices')
  await page.getByLabel('Tag').fill('gates')
  await page.waitForURL(`${server.http}/devices?tag=gates`)
  const byTag = page.getByRole('link', { name: 'Trigger on tag gates' })
  assert.equal(await byTag.getAttribute('href'), '/trigger?tag=gates')
  await page.getByLabel('Select gate-1').check()
  await page.getByLabel('Select far-gate').check()
  const onPicked = page.getByRole('link', { name: 'Trigger on 2 devices' })
  assert.equal(await onPicked.getAttribute('href'), '/trigger?deviceId=gate-1&deviceId=far-gate')
  await page.getByRole('button', { name: 'Clear selection' }).click()
  await page.getByLabel('Presence').selectOption('Offline')
  const onOffline = page.getByRole('link', { name: 'Trigger on all matching devices' })
  const offline = new URLSearchParams({ where: '(tag="gates") and (not online)' })
  assert.equal(await onOffline.getAttribute('href'), `/trigger?${offline}`)
  await page.getByLabel('Presence').selectOption('Online')
  await page.getByText('No devices match').waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.keyboard.press('/')
  await page.locator('input[type="search"]:focus').waitFor()
  await page.keyboard.type('GATE-2')
  await page.locator('datalist option[value="gate-2"]').waitFor({ state: 'attached' })
  await page.keyboard.press('Enter')
  await page.waitForURL(`${server.http}/devices/gate-2`)
})

test('devices enroll with a token that is shown once, and the list counts them', async (t) => {
  const page = await openSignedIn(t, server, '/enrollments')
  await page.getByText('No enrollments yet').waitFor()
  await page.getByRole('button', { name: 'New enrollment' }).click()
  const dialog = page.getByRole('dialog')
  await typeFirst(page, 'Doors')
  await dialog.getByLabel('Uses').fill('0')
  await dialog.getByText('Must be 1 to 100,000.').waitFor()
  assert.ok(await dialog.getByRole('button', { name: 'Create enrollment' }).isDisabled())
  await dialog.getByLabel('Uses').fill('2')
  await dialog.getByLabel('Expires after').fill('2 h')
  // Any device ID is a choice of its own.
  const create = dialog.getByRole('button', { name: 'Create enrollment' })
  assert.ok(await create.isDisabled())
  await dialog.getByLabel(/^Allow any device ID/).check()
  assert.ok(await create.isEnabled())
  await dialog.getByLabel(/^Allow any device ID/).uncheck()
  assert.ok(await create.isDisabled())
  await dialog.getByLabel('Device ID prefix').fill('door-')
  await dialog.getByLabel('Tags').fill('doors,')
  await dialog.getByRole('button', { name: 'Create enrollment' }).click()
  const token = (await page.getByText(/^je_\w+$/).textContent()) as string
  const line = `JOBCAST_ENROLLMENT_TOKEN=${token} npx --no-install jobcast agent enroll --server=${server.http} --device=door-"$(hostname)" --token-file=device.token`
  await page.getByText(line).waitFor()
  await page.getByRole('cell', { name: '0 of 2' }).waitFor()

  const enroll = (deviceId: string) =>
    fetch(`${server.http}/things/${deviceId}/enroll`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
  assert.equal((await enroll('door-1')).status, 201)
  await page.getByRole('cell', { name: '1 of 2' }).waitFor()
  assert.deepEqual((await server.call('GET', '/job/api/devices/door-1')).json.tags, ['doors'])
  await confirm(page, 'Revoke')
  await page.getByRole('cell', { name: 'revoked' }).waitFor()
  assert.equal((await enroll('door-2')).status, 401)
  await page.reload()
  await page.getByRole('cell', { name: 'Doors', exact: true }).waitFor()
  assert.equal(await page.getByText(/^je_\w+$/).count(), 0)
})
