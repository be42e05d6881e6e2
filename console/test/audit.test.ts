// The audit: who has changed what and when, with before and after, for keys that may read it.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { chaosTest, test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { go, openOwner, openSharedServer, openWithKey } from './open-console.ts'

const owner = await openOwner()
const { ownerId } = (await owner.call('GET', '/job/api/keys/self')).json
for (const where of ['site = berlin', 'site = bern']) {
  await owner.call('PUT', '/job/api/groups/offices', { body: { where } })
}
await owner.call('PUT', '/job/api/jobs/restart', { body: {} })

const newKey = async (scopes: ('READ' | 'AUDIT' | 'ADMIN')[]) =>
  (await openSharedServer()).newKey(scopes, { ownerId, keyName: scopes.join(' ') })
const actionsOf = (page: Page) => page.locator('[role=cell] code').allTextContents()

test('entries are filtered by principal, action and time, and show the changes', async (t) => {
  const { apiKey } = await newKey(['READ', 'AUDIT'])
  const page = await openWithKey(t, owner, apiKey, { path: '/audit' })
  await page.getByRole('link', { name: 'job:restart' }).waitFor()
  const what = page.getByLabel('What')
  await what.fill('group.*')
  await what.press('Enter')
  await page.getByRole('link', { name: 'job:restart' }).waitFor({ state: 'detached' })
  assert.deepEqual(await actionsOf(page), ['group.changed', 'group.changed'])
  await page.waitForURL(/action=group\.\*/)

  await page
    .getByRole('button', { name: /^Show entry/ })
    .first()
    .click()
  const changes = page.getByRole('dialog').getByRole('region', { name: 'Before and after' })
  assert.match((await changes.locator('del').allTextContents()).join(), /"site = berlin"/)
  assert.match((await changes.locator('ins').allTextContents()).join(), /"site = bern"/)
  assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()

  await page.getByRole('row').nth(1).getByRole('link', { name: 'test' }).click()
  await page.waitForURL(/principal=key/)
  await page.getByRole('link', { name: 'job:restart' }).waitFor()
  assert.deepEqual(await findViolations(page), [])
  await go(page, '/audit?before=2020-01-01T00:00:00Z')
  await page.getByText('No entries match').waitFor()
  const exported = page.getByRole('link', { name: 'Export' })
  assert.equal(await exported.getAttribute('href'), '/job/api/audit/export')
})

chaosTest('a key without AUDIT is not offered the audit', async (t) => {
  const { apiKey } = await newKey(['READ'])
  const page = await openWithKey(t, owner, apiKey, { path: '/groups' })
  await page.getByRole('link', { name: 'offices' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'Audit' }).count(), 0)
})

chaosTest(
  'a key with ADMIN alone is told which scope it needs, and a filter that is wrong is named',
  async (t) => {
    const { apiKey } = await newKey(['READ', 'ADMIN'])
    const page = await openWithKey(t, owner, apiKey, { path: '/audit' })
    await page.getByText('This key may not read the audit').waitFor()
    const reader = await newKey(['READ', 'AUDIT'])
    const other = await openWithKey(t, owner, reader.apiKey, { path: '/audit?after=yesterday' })
    await other.getByText('after=yesterday').waitFor()
    await other.getByRole('link', { name: 'job:restart' }).waitFor()
  },
)
