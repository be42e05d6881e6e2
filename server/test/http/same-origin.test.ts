// Requests of browsers that send Sec-Fetch-Site.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApp } from './open-app.ts'

const rows: [site: string, status: number][] = [
  ['same-origin', 200],
  ['same-site', 403],
  ['cross-site', 403],
  ['none', 403],
]

test('with a session, Sec-Fetch-Site must say same-origin for what changes something, whatever Origin says', async (t) => {
  const { app, adminKey } = await openApp(t)
  const signIn = await app.inject({ method: 'POST', url: '/job/api/session', payload: { apiKey: adminKey } })
  const cookie = String(signIn.headers['set-cookie']).split(';')[0] ?? ''
  const put = (site: string) =>
    app.inject({
      method: 'PUT',
      url: '/job/api/jobs/any',
      headers: { cookie, 'sec-fetch-site': site, origin: 'http://localhost:80', host: 'localhost:80' },
      payload: {},
    })
  await put('same-origin')
  for (const [site, status] of rows) assert.equal((await put(site)).statusCode, status, site)
  const read = await app.inject({ url: '/job/api/jobs', headers: { cookie, 'sec-fetch-site': 'none' } })
  assert.equal(read.statusCode, 200)
})
