// Several tabs of one browser: they share the session and the event stream.

import assert from 'node:assert/strict'
import { chaosTest } from './browser-test.ts'
import { openPage } from './open-browser.ts'
import { openOwner, signIn, waitUntilLive } from './open-console.ts'

chaosTest('eight tabs are live at once, and all show what happens', async (t) => {
  const server = await openOwner()
  const page = await openPage(t)
  await signIn(page, server, '/devices')
  const others = await Promise.all(Array.from({ length: 7 }, () => page.context().newPage()))
  for (const other of others) {
    await other.goto(`${server.http}/devices`)
    await waitUntilLive(other)
  }
  await server.call('PUT', '/job/api/devices/new-one', { body: {} })
  for (const tab of [page, ...others]) await tab.getByRole('link', { name: 'new-one' }).waitFor()
  // The tab that came first is not needed by the others.
  await page.close()
  await server.call('PUT', '/job/api/devices/second-one', { body: {} })
  for (const tab of others) await tab.getByRole('link', { name: 'second-one' }).waitFor()
})

chaosTest('a tab that was hidden shows what it has missed', async (t) => {
  const server = await openOwner()
  const page = await openPage(t)
  await signIn(page, server, '/devices')
  const show = (state: 'hidden' | 'visible') =>
    page.evaluate((wanted) => {
      Object.defineProperty(document, 'visibilityState', { value: wanted, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, state)
  await show('hidden')
  await server.call('PUT', '/job/api/devices/meanwhile', { body: {} })
  await show('visible')
  await page.getByRole('link', { name: 'meanwhile' }).waitFor()
  await server.call('PUT', '/job/api/devices/afterwards', { body: {} })
  await page.getByRole('link', { name: 'afterwards' }).waitFor()
})

chaosTest(
  'signing out in one tab signs out the others, which say why, and signing in signs in all',
  async (t) => {
    const server = await openOwner()
    const page = await openPage(t)
    await page.goto(server.http)
    await page.getByLabel('API key').fill(server.adminKey)
    await page.keyboard.press('Enter')
    await waitUntilLive(page)
    const other = await page.context().newPage()
    await other.goto(`${server.http}/devices`)
    await waitUntilLive(other)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await other.getByText('You signed out in another tab.').waitFor()
    assert.equal(await other.getByRole('navigation', { name: 'Screens' }).count(), 0)
    await page.getByLabel('API key').fill(server.adminKey)
    await page.keyboard.press('Enter')
    await waitUntilLive(page)
    await waitUntilLive(other)
    assert.equal(other.url(), `${server.http}/devices`)
  },
)

chaosTest(
  'when the session has expired the sign-in says so, and what was typed is still there',
  async (t) => {
    const server = await openOwner()
    const page = await openPage(t, { expected: [/40[34]/] })
    await signIn(page, server, '/jobs?new')
    await page.getByLabel('Name', { exact: true }).fill('half-typed')
    await page.getByLabel('Description').fill('A long text')
    // As after twelve hours: the cookie is there, the session is not.
    await page.request.delete(`${server.http}/job/api/session`, { headers: { origin: server.http } })
    await page.getByRole('button', { name: 'Create job' }).click()
    await page.getByText('Your session has expired.').waitFor()
    assert.equal(await page.getByLabel('Description').isVisible(), false)
    await page.getByLabel('API key').fill(server.adminKey)
    await page.keyboard.press('Enter')
    await waitUntilLive(page)
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'half-typed')
    assert.equal(await page.getByLabel('Description').inputValue(), 'A long text')
    await page.getByRole('button', { name: 'Create job' }).click()
    await page.waitForURL(`${server.http}/jobs/half-typed`)
  },
)

chaosTest('a list that is refused leads to the sign-in, not to an error inside the page', async (t) => {
  const server = await openOwner()
  const page = await openPage(t, { expected: [/403/] })
  await signIn(page, server, '/jobs')
  await page.getByText('No jobs yet').waitFor()
  await page.request.delete(`${server.http}/job/api/session`, { headers: { origin: server.http } })
  await page.getByRole('link', { name: 'Devices', exact: true }).click()
  await page.getByText('Your session has expired.').waitFor()
  assert.equal(await page.getByText('Invalid API key').filter({ visible: true }).count(), 0)
})
