import assert from 'node:assert/strict'
import { chaosTest, test } from './browser-test.ts'
import { openPage } from './open-browser.ts'
import { openConsole, openOwner, openSharedServer, openWithKey, waitUntilLive } from './open-console.ts'

test('a key signs in and opens the requested page, and signing out ends the session', async (t) => {
  const server = await openOwner()
  const page = await openPage(t)
  await page.goto(`${server.http}/devices?online=true`)
  await page.getByLabel('API key').fill(server.adminKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await waitUntilLive(page)
  assert.equal(page.url(), `${server.http}/devices?online=true`)

  const [cookie] = await page.context().cookies()
  assert.deepEqual(
    [cookie?.name, cookie?.httpOnly, cookie?.sameSite, cookie?.path],
    ['jobcast_session', true, 'Strict', '/'],
  )
  const kept = await page.evaluate(() => JSON.stringify(localStorage) + document.cookie)
  assert.ok(!kept.includes(server.adminKey.slice(0, 13)), 'the key stays nowhere in the browser')

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  const { status } = await page.request
    .get(`${server.http}/job/api/jobs`)
    .then((answer) => ({ status: answer.status() }))
  assert.equal(status, 403)
})

chaosTest('a link with a ticket signs in once, and the ticket is removed from the address', async (t) => {
  const server = await openOwner()
  const { ticket } = (await server.call('POST', '/job/api/session/tickets')).json
  const link = `${server.http}/sign-in#ticket=${ticket}`
  const page = await openPage(t)
  await page.goto(link)
  await waitUntilLive(page)
  assert.equal(page.url(), `${server.http}/`)
  await page.reload()
  await waitUntilLive(page)

  const another = await openPage(t, { expected: [/403/] })
  await another.goto(link)
  await another.getByText('This link has already been used or has expired.').waitFor()
  assert.equal(another.url(), `${server.http}/sign-in`)
})

chaosTest('a link with a ticket asks before it replaces a session', async (t) => {
  const { server, page } = await openConsole(t)
  const { apiKey, keyId } = await server.newKey(['READ'], { keyName: 'somebody else' })
  const linkOf = async () => {
    const { json } = await server.call('POST', '/job/api/session/tickets', { key: apiKey })
    return `${server.http}/sign-in#ticket=${json.ticket}`
  }
  const signedInAs = () => page.evaluate(() => localStorage.getItem('jobcast-signed-in'))
  const before = await signedInAs()
  await page.goto(await linkOf())
  await page.getByText('This link signs in as key somebody else').waitFor()
  await page.getByRole('button', { name: 'Keep my session' }).click()
  await waitUntilLive(page)
  assert.equal(await signedInAs(), before)
  await page.goto(await linkOf())
  await page.getByRole('button', { name: 'Sign in as somebody else' }).click()
  await waitUntilLive(page)
  assert.equal(await signedInAs(), keyId)
})

chaosTest('a rejected key is reported with its code', async (t) => {
  const server = await openOwner()
  const page = await openPage(t, { expected: [/403/] })
  await page.goto(server.http)
  await page.getByLabel('API key').fill('jc_nothing')
  await page.keyboard.press('Enter')
  const alert = page.getByRole('alert')
  await alert.waitFor()
  assert.match((await alert.textContent()) ?? '', /Invalid API key.*J-802/)
})

chaosTest('a session whose key is revoked leads back to the sign-in at once', async (t) => {
  const server = await openOwner()
  const { keyId, apiKey } = await server.newKey(['READ'])
  const page = await openPage(t, { expected: [/403/] })
  await page.goto(server.http)
  await page.getByLabel('API key').fill(apiKey)
  await page.keyboard.press('Enter')
  await waitUntilLive(page)
  await server.call('DELETE', `/job/api/keys/${keyId}`)
  await server.call('PUT', '/job/api/devices/any', { body: {} })
  await page.getByLabel('API key').waitFor()
})

chaosTest('what the scopes of the key do not allow is not offered', async (t) => {
  const server = await openOwner()
  const { apiKey } = await server.newKey(['READ'])
  const page = await openPage(t)
  await page.goto(server.http)
  await page.getByLabel('API key').fill(apiKey)
  await page.keyboard.press('Enter')
  await waitUntilLive(page)
  const screens = page.getByRole('navigation', { name: 'Screens' })
  assert.equal(await screens.getByRole('link', { name: 'Runs' }).count(), 1)
  assert.equal(await page.getByRole('link', { name: 'Trigger' }).count(), 0)
})

chaosTest('a link to another site does not lead there after the sign-in', async (t) => {
  const { server, page } = await openConsole(t)
  for (const next of ['https://elsewhere.invalid/', '//elsewhere.invalid/', '/\\elsewhere.invalid/']) {
    await page.goto(`${server.http}/sign-in?next=${encodeURIComponent(next)}`)
    await waitUntilLive(page)
    await page.waitForURL(`${server.http}/`)
  }
})

chaosTest('a key of each single scope lands on a screen that it can use', async (t) => {
  const server = await openSharedServer()
  for (const [scope, path, heading, ...others] of [
    ['TRIGGER', '/trigger', 'Trigger'],
    ['MANAGE', '/keys', 'Keys'],
    ['ADMIN', '/keys', 'Keys', 'Audit'],
  ] as const) {
    const { apiKey } = await server.newKey([scope])
    const page = await openPage(t)
    await page.goto(server.http)
    await page.getByLabel('API key').fill(apiKey)
    await page.keyboard.press('Enter')
    await page.waitForURL(server.http + path)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    const screens = page.getByRole('navigation', { name: 'Screens' })
    assert.deepEqual(await screens.getByRole('link').allTextContents(), [heading, ...others], scope)
    assert.equal(await page.getByText('reconnecting').count(), 0)
    assert.equal(await page.getByRole('alert').count(), 0)
  }
})

chaosTest('a key that may only read gets no trigger form, not even by its address', async (t) => {
  const server = await openOwner()
  const { apiKey } = await server.newKey(['READ'])
  const page = await openWithKey(t, server, apiKey, { path: '/trigger?jobName=restart&deviceId=a' })
  await page.getByText('This needs a key with the TRIGGER scope').waitFor()
  assert.equal(await page.getByRole('main').getByRole('button').count(), 0)
})
