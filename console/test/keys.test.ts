import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { chaosTest, test } from './browser-test.ts'
import { go, openSharedServer, openSignedIn, openWithKey, typeFirst } from './open-console.ts'

const server = await openSharedServer()
await server.call('PUT', '/job/api/jobs/restart', { body: {} })
await server.call('PUT', '/job/api/devices/kiosk', { body: {} })
await server.call('PUT', '/job/api/webhooks/ops', { body: { url: 'https://example.com/hook' } })
await server.call('POST', '/job/api/enrollments', { body: { name: 'kiosks' } })

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('cell', { name, exact: true }) })

test('a key is created, shown once, used and revoked', async (t) => {
  const page = await openSignedIn(t, server, '/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await typeFirst(page, 'ci')
  const make = dialog.getByRole('button', { name: 'Create key' })
  assert.ok(await make.isDisabled()) // it could do nothing
  await dialog.getByLabel('READ').check()
  await dialog.getByLabel('Expires').selectOption('In 30 days')
  await make.click()
  const key = (await page.getByText(/^jc_\w+$/).textContent()) as string
  await page.getByText(`export JOBCAST_API_KEY=${key}`).waitFor()
  await rowOf(page, 'ci')
    .getByText(/in (29|30) d/)
    .waitFor()
  assert.equal((await server.call('GET', '/job/api/jobs', { key })).status, 200)
  assert.equal((await server.call('PUT', '/job/api/jobs/x', { key, body: {} })).status, 403)

  await page.getByRole('link', { name: 'Jobs' }).click()
  await page.getByRole('link', { name: 'Keys' }).click()
  await rowOf(page, 'ci').waitFor()
  assert.equal(await page.getByText(/jc_\w+/).count(), 0)
  await rowOf(page, 'ci').getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
  await rowOf(page, 'ci').waitFor({ state: 'detached' })
  assert.equal((await server.call('GET', '/job/api/jobs', { key })).status, 403)
  await page.getByLabel('Show').selectOption('All, including revoked')
  await rowOf(page, 'ci').getByText('revoked').waitFor()
})

chaosTest('a key is restricted to jobs, devices and addresses', async (t) => {
  const page = await openSignedIn(t, server, '/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await typeFirst(page, 'narrow')
  await dialog.getByLabel('READ').check()
  await dialog.getByLabel('APPROVE').check()
  await dialog.getByLabel('Only these jobs').fill('update-*, exact')
  await dialog.getByLabel('Only these devices').fill('tag=narrow')
  await dialog.getByLabel('Only from these addresses').fill('127.0.0.0/8')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const key = (await page.getByText(/^jc_\w+$/).textContent()) as string
  await rowOf(page, 'narrow').getByText('jobs update-*, exact').waitFor()
  await rowOf(page, 'narrow').getByText('devices tag=narrow').waitFor()
  await rowOf(page, 'narrow').getByText('from 127.0.0.0/8').waitFor()
  const { json } = await server.call('GET', '/job/api/keys/self', { key })
  assert.deepEqual(
    [json.scopes, json.jobs, json.where, json.addresses],
    [['READ', 'APPROVE'], ['update-*', 'exact'], 'tag=narrow', ['127.0.0.0/8']],
  )
  assert.equal((await server.call('GET', '/job/api/jobs/restart', { key })).status, 404)
})

chaosTest('an admin creates an owner and its first key', async (t) => {
  const page = await openSignedIn(t, server, '/keys')
  await page.getByRole('button', { name: 'New owner' }).click()
  await typeFirst(page, 'tenant')
  await page.keyboard.press('Enter')
  await page.getByText('No active keys').waitFor()
  assert.equal(await page.getByLabel('Owner').locator('option:checked').textContent(), 'tenant')
  await page.getByRole('button', { name: 'New key' }).click()
  await typeFirst(page, 'first')
  await page.getByRole('dialog').getByLabel('MANAGE').check()
  await page.getByRole('dialog').getByLabel('APPROVE').check()
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  const key = (await page.getByText(/^jc_\w+$/).textContent()) as string
  const { json } = await server.call('GET', '/job/api/keys/self', { key })
  assert.equal(json.ownerId, new URL(page.url()).searchParams.get('owner'))
  assert.deepEqual(json.scopes, ['MANAGE', 'APPROVE'])
})

chaosTest('a key grants only what it has, and does not revoke an admin', async (t) => {
  const { apiKey } = await server.newKey(['READ', 'MANAGE'], { keyName: 'manager' })
  const page = await openWithKey(t, server, apiKey, { path: '/keys' })
  await rowOf(page, 'admin').waitFor()
  assert.equal(await rowOf(page, 'admin').getByRole('button').count(), 0)
  assert.equal(await page.getByRole('button', { name: 'New owner' }).count(), 0)
  await page.getByRole('button', { name: 'New key' }).click()
  const scopes = page.getByRole('dialog').getByRole('checkbox')
  await scopes.first().waitFor()
  assert.equal(await scopes.count(), 2)
})

chaosTest('a key that may only read is offered no change', async (t) => {
  const { apiKey } = await server.newKey(['READ'], { keyName: 'reader' })
  const page = await openWithKey(t, server, apiKey)
  const screens = [
    ['/devices', 'kiosk'],
    ['/devices/kiosk', 'No executions yet'],
    ['/jobs', 'restart'],
    ['/jobs/restart', 'Not triggered yet'],
    ['/jobs?new', 'restart'],
    ['/keys', 'reader'],
    ['/enrollments', 'kiosks'],
    ['/webhooks', 'ops'],
    ['/webhooks/ops', 'No deliveries yet'],
  ] as const
  for (const [path, text] of screens) {
    await go(page, path)
    const main = page.locator('main')
    await main.getByText(text).first().waitFor()
    // The buttons in the head of a table sort it.
    const buttons = await main.getByRole('button').and(page.locator(':not(.sort)')).allTextContents()
    assert.deepEqual(
      buttons.filter((button) => button !== 'Go'),
      [],
      path,
    )
    assert.equal(await main.locator('a[href*="/trigger"], a[href*="new"]').count(), 0, path)
    assert.equal(await main.locator('form fieldset:not(:disabled) textarea').count(), 0, path)
  }
  await page.getByText('(path hidden: needs MANAGE)').waitFor()
})

chaosTest('a key is revoked with what was created with it, and shows who created it', async (t) => {
  const maker = await server.newKey(['MANAGE', 'READ'], { keyName: 'maker' })
  const body = { keyName: 'offspring', scopes: ['READ'] }
  const { json: child } = await server.call('POST', '/job/api/keys', { key: maker.apiKey, body })
  const page = await openSignedIn(t, server, '/keys')
  await rowOf(page, 'offspring').getByText('key maker').waitFor()
  await rowOf(page, 'maker').getByRole('button', { name: 'Revoke' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Created with it and still valid: offspring.').waitFor()
  await dialog.getByLabel('Also revoke the keys and enrollments created with it').check()
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
  for (const name of ['maker', 'offspring']) await rowOf(page, name).waitFor({ state: 'detached' })
  assert.equal((await server.call('GET', '/job/api/jobs', { key: child.apiKey })).status, 403)
})

chaosTest('sessions are listed, and ended', async (t) => {
  const { apiKey } = await server.newKey(['READ'], { keyName: 'visitor' })
  const visitor = await openWithKey(t, server, apiKey, { path: '/jobs', expected: [/403/] })
  const page = await openSignedIn(t, server, '/keys')
  await page.getByRole('link', { name: 'Sessions' }).click()
  await page.getByText('this session').waitFor()
  await rowOf(page, 'visitor').getByRole('button', { name: 'End' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
  await rowOf(page, 'visitor').waitFor({ state: 'detached' })
  await visitor.getByLabel('API key').waitFor()
})
