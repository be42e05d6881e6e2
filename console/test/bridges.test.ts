// Bridges: the list with the last error, and the fleet that names one which is down.

import assert from 'node:assert/strict'
import { test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openOwnServer, openSignedIn } from './open-console.ts'

test('a bridge that is down is listed with its error, and needs attention', async (t) => {
  const bridge = {
    ...{ bridgeName: 'berlin', url: 'mqtt://127.0.0.1:1', clientId: 'test', ownerName: 'default' },
    ...{ prefix: '$aws/things', silenceMs: 600_000, enroll: false, events: 'jobcast/events' },
  }
  const server = await openOwnServer(t, { bridges: [bridge] })
  const page = await openSignedIn(t, server, '/bridges')
  const row = page.getByRole('row').filter({ hasText: 'berlin' })
  await row.getByText('down', { exact: true }).waitFor()
  await row.getByText(/ECONNREFUSED/).waitFor()
  await row.getByText(/^up to \d+$/).waitFor()
  assert.deepEqual(await findViolations(page, 'main', { withColours: true }), [])
  await page.getByRole('link', { name: 'Fleet' }).click()
  const strip = page.getByRole('region', { name: 'Needs attention' })
  await strip.getByText('Bridge berlin fails').waitFor()
  await strip.getByText(/ECONNREFUSED/).waitFor()
  await strip.getByRole('link', { name: 'Review' }).click()
  await row.waitFor()
})
