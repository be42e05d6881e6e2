import assert from 'node:assert/strict'
import { chaosTest } from './browser-test.ts'
import { go, openConsole } from './open-console.ts'

const nameOf = (index: number) => `kiosk-${String(index).padStart(3, '0')}`

chaosTest(
  'a long list is read page by page while it is walked through, and draws only what is in sight',
  async (t) => {
    const { server, page } = await openConsole(t)
    const count = 450 // three pages
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        server.call('PUT', `/job/api/devices/${nameOf(index)}`, { body: { tags: index % 2 ? ['odd'] : [] } }),
      ),
    )
    await page.goto(`${server.http}/devices`)
    const table = page.getByRole('table', { name: 'Devices' })
    await table.getByRole('link', { name: nameOf(0) }).waitFor()
    await table.locator('[role="row"][tabindex="0"]').focus()
    const last = table.getByRole('link', { name: nameOf(count - 1) })
    // Each End goes to the last row that was read so far, which asks for more.
    while ((await last.count()) === 0) await page.keyboard.press('End')
    assert.ok((await table.getByRole('row').count()) < 100)
    // Where somebody was in a table is where Back leads.
    const scrolled = () => page.locator('.data-table').evaluate((box) => box.scrollTop)
    const before = await scrolled()
    assert.ok(before > 400 * 40)
    await last.click()
    await page.waitForURL(/kiosk-449$/)
    await page.goBack()
    await last.waitFor()
    assert.equal(await scrolled(), before)
    await table.locator('[role="row"][tabindex="0"]').focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await table.locator('[aria-rowindex="3"]:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${server.http}/devices/${nameOf(1)}`)

    await page.goBack()
    await page.getByLabel('Tag').fill('odd')
    await page.waitForURL(`${server.http}/devices?tag=odd`)
    await table.getByRole('link', { name: nameOf(1) }).waitFor()
    await table.getByRole('link', { name: nameOf(0) }).waitFor({ state: 'detached' })
  },
)

chaosTest('what changes on a device changes in the list, and a new one appears in it', async (t) => {
  const { server, page } = await openConsole(t, { path: '/devices' })
  await page.getByText('No devices yet').waitFor()
  await server.call('PUT', '/job/api/devices/b', { body: { deviceName: 'Berlin' } })
  await page.getByRole('cell', { name: 'Berlin' }).waitFor()
  await server.call('PUT', '/job/api/devices/a', { body: {} })
  await page.getByRole('link', { name: 'a', exact: true }).waitFor()
  await server.call('PUT', '/job/api/devices/b', { body: { deviceName: 'Lima' } })
  await page.getByRole('cell', { name: 'Lima' }).waitFor()
  // As people count, and a filter that is none is said.
  for (const name of ['b-10', 'b-9']) await server.call('PUT', `/job/api/devices/${name}`, { body: {} })
  await page.getByRole('link', { name: 'b-9', exact: true }).waitFor()
  await page.getByRole('link', { name: 'b-10', exact: true }).waitFor()
  assert.deepEqual(await page.getByRole('table').getByRole('link').allTextContents(), [
    'a',
    'b',
    'b-9',
    'b-10',
  ])
  await go(page, '/devices?online=maybe')
  await page.getByRole('alert').getByText('online=maybe').waitFor()
  await go(page, '/runs?finished=perhaps')
  await page.getByRole('alert').getByText('finished=perhaps').waitFor()
})
