import assert from 'node:assert/strict'
import { after, type TestContext } from 'node:test'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import type { Page } from 'playwright-core'
import { chaosTest, test } from './browser-test.ts'
import { openOwner, openSignedIn, typeFirst } from './open-console.ts'

const server = await openOwner()
const receiver = await WebhookReceiver.open({ after } as unknown as TestContext)

const rowOf = (page: Page, text: string) =>
  page.getByRole('table', { name: 'Deliveries' }).getByRole('row').filter({ hasText: text })

const putDevice = (deviceId: string, name: string) =>
  server.call('PUT', `/job/api/devices/${deviceId}`, { body: { deviceName: name } })

test('a webhook is created, delivers, fails, is sent again, paused, resumed, changed and deleted', async (t) => {
  const page = await openSignedIn(t, server, '/webhooks', { expected: [/404/] })
  await page.getByText('No webhooks yet').waitFor()
  await page.getByRole('button', { name: 'New webhook' }).click()
  const dialog = page.getByRole('dialog')
  await typeFirst(page, 'ops')
  await dialog.getByLabel('URL').fill(receiver.url)
  for (const type of ['run.finished', 'execution.failed']) {
    await dialog.getByRole('button', { name: `Remove ${type}` }).click()
  }
  await dialog.getByLabel('Events').fill('device.maybe,')
  await dialog.getByText('Unknown event type: device.maybe').waitFor()
  await dialog.getByRole('button', { name: 'Remove device.maybe' }).click()
  await dialog.getByLabel('Events').fill('device.created')
  await dialog.getByLabel('Events').press('Enter')
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await page.waitForURL(`${server.http}/webhooks/ops`)
  const secret = (await page.getByText(/^whsec_\S+$/).textContent()) as string
  await page.getByText('No deliveries yet').waitFor()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByRole('region', { name: 'Test' }).getByText('accepted, status 204').waitFor()
  receiver.verifyAll(secret)
  assert.equal(receiver.received.pop()?.event.type, 'webhook.test')

  await putDevice('a', 'A')
  await rowOf(page, 'device.created').getByText('delivered').waitFor()
  receiver.verifyAll(secret)

  receiver.answer = () => 500
  await putDevice('b', 'B')
  const failed = rowOf(page, 'waiting')
  await failed.getByText('500').waitFor()
  await page.reload()
  await failed.waitFor()
  assert.equal(await page.getByText(/whsec_/).count(), 0)
  // Wherever one is, the header says that a webhook fails.
  await page.getByRole('banner').getByRole('link', { name: '1 webhook fails' }).waitFor()
  await page.getByRole('link', { name: 'Delivered' }).click()
  await page.waitForURL(/state=DELIVERED$/)
  await failed.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'All' }).click()
  await failed.getByRole('button').first().click()
  await page.getByRole('dialog').getByText(/500/).first().waitFor()
  await page.getByRole('region', { name: 'Body' }).getByText('"deviceName": "B"').waitFor()
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('paused', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByRole('region', { name: 'Test' }).getByText('the receiver answered 500').waitFor()
  await page.getByRole('link', { name: '1 webhook fails' }).waitFor({ state: 'detached' })
  receiver.answer = () => 204
  await page.getByRole('button', { name: 'Resume' }).click() // what waits is tried at once
  await failed.waitFor({ state: 'detached' })
  await page.getByText('active', { exact: true }).waitFor()
  assert.equal(receiver.accepted.length, 2)

  const sent = () => receiver.accepted.map(({ event }) => event.data.deviceId)
  await rowOf(page, 'device.created').last().getByRole('button', { name: 'Resend' }).click()
  await receiver.until('one is sent again', () => receiver.accepted.length === 3)
  assert.deepEqual(sent(), ['a', 'b', 'a'])
  await page.getByRole('button', { name: 'Resend all since…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
  await receiver.until('all are sent again', () => receiver.accepted.length === 5)
  assert.deepEqual(sent().slice(3).sort(), ['a', 'b'])

  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('dialog').getByLabel('Only for device').fill('c')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('device.created on c').waitFor()
  await page.getByRole('button', { name: 'New secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click()
  const other = (await page.getByText(/^whsec_\S+$/).textContent()) as string
  await putDevice('c', 'C')
  await receiver.until('the one of c is sent', () => sent().includes('c'))
  receiver.received.splice(0, receiver.received.length - 1)
  receiver.verifyAll(secret, other) // for a day by both

  await page.getByRole('button', { name: 'Delete webhook' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click()
  await page.waitForURL(`${server.http}/webhooks`)
  await page.getByText('No webhooks yet').waitFor()
})

chaosTest('what the server refuses is said in the dialog', async (t) => {
  const page = await openSignedIn(t, server, '/webhooks', { expected: [/40[04]/] })
  await page.getByRole('button', { name: 'New webhook' }).click()
  await typeFirst(page, 'inside')
  await page.getByRole('dialog').getByLabel('URL').fill('http://10.0.0.1/hook')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('alert').getByText('J-500').waitFor()
})
