// Groups, attributes of devices, and the order of lists.

import assert from 'node:assert/strict'
import { newDevice } from '@jobcast/testkit/call-device'
import { chaosTest, test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openOwner, openSharedServer, openSignedIn, openWithKey } from './open-console.ts'

const server = await openOwner()
const put = (path: string, body: object) => server.call('PUT', `/job/api/${path}`, { body })
await put('devices/till-2', { tags: ['till'] })
await put('devices/till-10', { tags: ['till'], deviceName: 'A till' })
await put('devices/kiosk-1', { tags: ['kiosk'] })
await put('windows/nights', { cron: '0 2 * * *', durationMinutes: 60 })

const narrow = { colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const

test('a group is created with a count during typing, changed, and deleted with a list of its users', async (t) => {
  const page = await openSignedIn(t, server, '/groups', { expected: [/40\d/] })
  await page.getByText('No groups yet').waitFor()
  await page.getByRole('button', { name: 'New group' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('shop')
  const where = dialog.getByLabel('Selector')
  await where.fill('till')
  await dialog.getByText(/^Character 5, the end: /).waitFor()
  const create = dialog.getByRole('button', { name: 'Create group' })
  assert.ok(await create.isDisabled())
  await where.fill('tag=till or group=none')
  await dialog.getByText(/none/).filter({ hasText: 'group' }).waitFor()
  await where.fill('tag=till')
  await dialog.getByText('2 devices match: 0 online, 0 busy').waitFor()
  assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
  await create.click()
  await page.waitForURL(`${server.http}/groups/shop`)
  await page.getByText('2 devices: 0 online, 0 busy').waitFor()
  await page.getByText('no group, job or schedule').waitFor()
  const rows = page.getByRole('table', { name: 'Devices of the group' }).getByRole('row')
  await rows.filter({ hasText: 'till-10' }).waitFor()
  const trigger = page.getByRole('main').getByRole('link', { name: 'Trigger' })
  assert.equal(await trigger.getAttribute('href'), '/trigger?where=group%3D%22shop%22')

  await page.getByRole('button', { name: 'Edit' }).click()
  await where.fill('tag=till or tag=kiosk')
  await dialog.getByLabel('Description').fill('All of the shop')
  await dialog.getByLabel('Window').selectOption('nights')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('3 devices: 0 online, 0 busy').waitFor()
  await page.getByText('All of the shop').waitFor()
  const about = page.getByRole('region', { name: 'About' })
  await about.getByRole('link', { name: 'nights' }).waitFor()
  await about.getByText('by key').first().waitFor()
  // Devices that match later belong to it.
  await put('devices/kiosk-2', { tags: ['kiosk'] })
  await page.getByText('4 devices: 0 online, 0 busy').waitFor()

  await put('groups/offline-shop', { where: 'not online and (group=shop or tag=x)' })
  await put('jobs/careful', { rollout: { waves: [{ size: 1, where: 'group=shop' }, { size: '100%' }] } })
  await page.reload()
  await about.getByRole('link', { name: 'offline-shop' }).waitFor()
  await page.getByRole('button', { name: 'Delete group' }).click()
  await dialog.getByText('These refer to shop').waitFor()
  await dialog.getByRole('link', { name: 'careful' }).waitFor()
  assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
  await dialog.getByRole('button', { name: 'Delete group' }).click()
  await dialog.getByText('by the group offline-shop, and by the job careful').waitFor()
  await dialog.getByRole('button', { name: 'Delete anyway' }).click()
  await page.waitForURL(`${server.http}/groups`)
  await page.getByRole('link', { name: 'offline-shop' }).waitFor()
  assert.equal((await server.call('GET', '/job/api/groups/shop')).status, 404)
  // An existing one is not overwritten.
  await page.getByRole('button', { name: 'New group' }).click()
  await dialog.getByLabel('Name').fill('offline-shop')
  await where.fill('all')
  await create.click()
  await dialog.getByText('A group named offline-shop already exists.').waitFor()
})

chaosTest('a key that may only read sees groups and cannot change them', async (t) => {
  await put('groups/tills', { where: 'tag=till' })
  const { ownerId } = (await server.call('GET', '/job/api/keys/self')).json
  const { apiKey } = await (await openSharedServer()).newKey(['READ'], { ownerId })
  const page = await openWithKey(t, server, apiKey, { ...narrow, path: '/groups' })
  await page.getByRole('link', { name: 'tills' }).waitFor()
  assert.deepEqual(await findViolations(page), [])
  await page.getByRole('link', { name: 'tills' }).click()
  await page.getByText('2 devices: 0 online, 0 busy').waitFor()
  assert.deepEqual(await findViolations(page), [])
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.ok(excess <= 0, `${excess} pixels too wide`)
  assert.equal(
    await page
      .getByRole('main')
      .getByRole('button', { name: /Edit|Delete|New/ })
      .count(),
    0,
  )
})

chaosTest(
  'attributes, time zone and window of a device are edited next to its reported attributes',
  async (t) => {
    const device = await newDevice(server, 'attributed')
    await put('devices/attributed', { attributes: { site: 'berlin', ram: 512 } })
    const headers = { authorization: `Bearer ${device.token}` }
    const reported = { fw: '2.10', site: 'lima', timeZone: 'America/Lima' }
    await fetch(`${server.http}/things/attributed/attributes`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(reported),
    })
    const page = await openSignedIn(t, server, '/devices/attributed')
    const shown = page.getByRole('table', { name: 'Attributes' }).getByRole('row')
    await shown.filter({ hasText: /^site.*berlin.*lima$/ }).waitFor()
    await page.getByText('reported by the device', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The device reports lima; this value takes precedence.').waitFor()
    const save = dialog.getByRole('button', { name: 'Save' })
    await dialog.getByLabel('Time zone').fill('Europe/Nowhere')
    await dialog.getByText('Must be a time zone such as Europe/Berlin.').waitFor()
    assert.ok(await save.isDisabled())
    await dialog.getByLabel('Time zone').fill('Europe/Berlin')
    await dialog.getByLabel('Value of ram').fill('much')
    await dialog.getByText('ram must be a number.').waitFor()
    await dialog.getByLabel('Value of ram').fill('1024')
    await dialog.getByRole('button', { name: 'Add attribute' }).click()
    await dialog.getByLabel('Name of new attribute').fill('site')
    await dialog.getByText('site occurs twice.').waitFor()
    await dialog.getByLabel('Name of site').last().fill('model')
    await dialog.getByLabel('Value of model').fill('2.10')
    await dialog.getByRole('button', { name: 'Remove site' }).click()
    await dialog.getByLabel('Window').selectOption('nights')
    assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
    await save.click()
    await shown.filter({ hasText: /^model2\.10/ }).waitFor()
    await page.getByText('set by you; reported America/Lima').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'nights' }).waitFor()
    const { json } = await server.call('GET', '/job/api/devices/attributed')
    assert.deepEqual([json.attributes, json.timeZone], [{ ram: 1024, model: '2.10' }, 'Europe/Berlin'])
    assert.equal(json.window, 'nights')
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Window').selectOption('None (at any time)')
    await save.click()
    await page.getByRole('main').getByRole('link', { name: 'nights' }).waitFor({ state: 'detached' })
  },
)

chaosTest(
  'a list that is read completely is put in the order of a column, which stands in the address',
  async (t) => {
    const page = await openSignedIn(t, server, '/devices?tag=till')
    const table = page.getByRole('table', { name: 'Devices' })
    const shown = () => table.locator('[role=cell] a[href^="/devices/till"]').allTextContents()
    await table.getByRole('link', { name: 'till-10', exact: true }).waitFor()
    assert.deepEqual(await shown(), ['till-2', 'till-10'])
    const heading = table.getByRole('columnheader', { name: 'Name' })
    await heading.getByRole('button').click()
    await page.waitForURL(/sort=name/)
    assert.deepEqual(await shown(), ['till-10', 'till-2'])
    assert.equal(await heading.getAttribute('aria-sort'), 'ascending')
    await page.keyboard.press('Enter')
    await page.waitForURL(/sort=-name/)
    assert.deepEqual(await shown(), ['till-2', 'till-10'])
    await page.reload()
    await table.getByRole('link', { name: 'till-10', exact: true }).waitFor()
    assert.equal(await heading.getAttribute('aria-sort'), 'descending')
    assert.deepEqual(await findViolations(page), [])
  },
)
