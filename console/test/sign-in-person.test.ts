// People sign in at a real issuer, in a real browser. The issuer is another site, as in practice, so SameSite=Strict cookies are not
// sent when the browser returns.

import assert from 'node:assert/strict'
import { freePort } from '@jobcast/testkit/free-port'
import { openIssuer } from '@jobcast/testkit/issuer'
import { test } from './browser-test.ts'
import { openPage } from './open-browser.ts'
import { openOwnServer, waitUntilLive } from './open-console.ts'

test('a person signs in at the issuer, chooses and switches the owner, and signs out there too', async (t) => {
  const port = await freePort()
  const publicUrl = `http://localhost:${port}`
  const issuer = await openIssuer(t, { publicUrl })
  const { url, clientId, clientSecret } = issuer
  const roles = new Map([
    ['ops', [{ owner: 'default', role: 'operator' as const }]],
    ['north', [{ owner: 'north', role: 'viewer' as const }]],
  ])
  const settings = { issuer: url, clientId, clientSecret, scopes: 'openid profile email', claim: 'groups' }
  const server = await openOwnServer(t, { port, publicUrl, oidc: { ...settings, roles } })
  await server.call('POST', '/job/api/owners', { body: { ownerName: 'north' } })
  const page = await openPage(t, { expected: [/403/] })

  issuer.person = { sub: 'ana-1', name: 'Ana Pérez', groups: [] }
  await page.goto(`${publicUrl}/devices`)
  await page.getByRole('link', { name: 'Sign in with your account' }).click()
  await page.getByText('You are signed in as Ana Pérez').waitFor()
  await page.getByText('ops (operator at default)').waitFor()

  issuer.person = { ...issuer.person, groups: ['ops', 'north'] }
  await page.goto(`${publicUrl}/devices?tag=a`)
  await page.getByRole('link', { name: 'Sign in with your account' }).click()
  await page.getByRole('link', { name: 'default' }).click()
  await waitUntilLive(page)
  assert.equal(page.url(), `${publicUrl}/devices?tag=a`)
  await page.getByText('Ana Pérez').first().waitFor()
  const self = async () => {
    const [cookie] = await page.context().cookies(publicUrl)
    const sent = { cookie: `${cookie?.name}=${cookie?.value}` }
    const read = () => fetch(`${server.http}/job/api/keys/self`, { headers: sent })
    return { read, json: (await (await read()).json()) as { scopes: string[]; ownerName: string } }
  }
  const atDefault = await self()
  assert.deepEqual(atDefault.json.scopes, ['TRIGGER', 'READ'])

  await page.getByLabel('Owner').selectOption('north')
  await page.waitForURL(`${publicUrl}/`)
  await waitUntilLive(page)
  assert.equal(await page.getByLabel('Owner').inputValue(), 'north')
  const atNorth = await self()
  assert.deepEqual([atNorth.json.scopes, atNorth.json.ownerName], [['READ'], 'north'])
  assert.equal((await atDefault.read()).status, 403, 'the session before has ended')

  const confirmed = page.waitForRequest(`${url}/session/end/confirm`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await confirmed
  await page.waitForURL(`${publicUrl}/sign-in`)
  await page.getByRole('link', { name: 'Sign in with your account' }).waitFor()
  assert.equal((await atNorth.read()).status, 403)
})
