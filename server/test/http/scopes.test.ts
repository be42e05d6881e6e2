// Which scope opens which route. A key has exactly the scopes it lists.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Scope, scopes } from '@jobcast/contract'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
await api.putJobAndDevices('update', ['d1'])

/** One of the scopes is enough; a refusal names the first. `also`: needed besides. */
const routes: { call: string; scopes: [Scope, ...Scope[]]; also?: Scope; body?: object }[] = [
  { call: 'POST /job/api/jobs/execute', scopes: ['TRIGGER'], body: { jobName: 'update', deviceIds: ['d1'] } },
  { call: 'GET /job/api/executions', scopes: ['READ'] },
  { call: 'GET /job/api/executions/1', scopes: ['READ'] },
  { call: 'GET /job/api/executions/1/history', scopes: ['READ'] },
  { call: 'GET /job/api/executions/1/explain', scopes: ['READ'] },
  { call: 'GET /job/api/executions/1/output', scopes: ['READ'] },
  { call: 'GET /job/api/runs/1/document', scopes: ['READ'] },
  { call: 'POST /job/api/executions/1/cancel', scopes: ['MANAGE'] },
  { call: 'GET /job/api/runs', scopes: ['READ'] },
  { call: 'GET /job/api/runs/1', scopes: ['READ'] },
  { call: 'POST /job/api/runs/1/cancel', scopes: ['MANAGE'] },
  { call: 'PATCH /job/api/runs/1', scopes: ['MANAGE'], body: { rollout: {} } },
  { call: 'POST /job/api/runs/1/pause', scopes: ['MANAGE'] },
  { call: 'POST /job/api/runs/1/resume', scopes: ['MANAGE'] },
  { call: 'POST /job/api/runs/1/advance', scopes: ['MANAGE'] },
  { call: 'POST /job/api/runs/1/approve', scopes: ['APPROVE'] },
  { call: 'POST /job/api/runs/1/deny', scopes: ['APPROVE'] },
  { call: 'POST /job/api/runs', scopes: ['TRIGGER'], body: { jobName: 'none', targets: { where: 'all' } } },
  { call: 'POST /job/api/runs/1/retry', scopes: ['TRIGGER'] },
  { call: 'POST /job/api/runs/1/rollback', scopes: ['TRIGGER'] },
  { call: 'GET /job/api/executions/1/document', scopes: ['READ'] },
  // A place that is not there: the stream of one that is would not end.
  { call: 'GET /job/api/events?after=987654321', scopes: ['READ'] },
  { call: 'PUT /job/api/webhooks/w', scopes: ['MANAGE'], body: { url: 'https://hook.invalid/' } },
  { call: 'GET /job/api/webhooks', scopes: ['READ'] },
  { call: 'GET /job/api/webhooks/w', scopes: ['READ'] },
  { call: 'POST /job/api/webhooks/w/pause', scopes: ['MANAGE'] },
  { call: 'POST /job/api/webhooks/w/resume', scopes: ['MANAGE'] },
  { call: 'POST /job/api/webhooks/w/secret', scopes: ['MANAGE'] },
  { call: 'POST /job/api/webhooks/nothing/test', scopes: ['MANAGE'] },
  { call: 'GET /job/api/webhooks/w/deliveries', scopes: ['READ'] },
  { call: 'POST /job/api/webhooks/w/deliveries/987654321/replay', scopes: ['MANAGE'] },
  { call: 'POST /job/api/webhooks/w/replay', scopes: ['MANAGE'], body: { since: '2026-11-15T09:30:00Z' } },
  { call: 'DELETE /job/api/webhooks/nothing', scopes: ['MANAGE'] },
  { call: 'POST /job/api/fleet/freeze', scopes: ['MANAGE'], body: { reason: 'none' } },
  { call: 'GET /job/api/fleet/freeze', scopes: ['READ'] },
  { call: 'DELETE /job/api/fleet/freeze', scopes: ['MANAGE'] },
  { call: 'GET /job/api/fleet', scopes: ['READ'] },
  { call: 'GET /job/api/fleet/devices', scopes: ['READ'] },
  { call: 'GET /job/api/fleet/groups', scopes: ['READ'] },
  { call: 'GET /job/api/stats', scopes: ['READ'] },
  { call: 'GET /job/api/runs/1/failures', scopes: ['READ'] },
  { call: 'GET /job/api/runs/1/timeline', scopes: ['READ'] },
  { call: 'GET /job/api/jobs', scopes: ['READ'] },
  { call: 'GET /job/api/jobs/update', scopes: ['READ'] },
  { call: 'GET /job/api/jobs/update/versions', scopes: ['READ'] },
  { call: 'GET /job/api/jobs/update/versions/1', scopes: ['READ'] },
  { call: 'POST /job/api/jobs/update/versions/1/restore', scopes: ['MANAGE'] },
  { call: 'PUT /job/api/jobs/update', scopes: ['MANAGE'], body: {} },
  { call: 'DELETE /job/api/jobs/nowhere', scopes: ['MANAGE'] },
  { call: 'GET /job/api/devices', scopes: ['READ'] },
  { call: 'POST /job/api/devices/count', scopes: ['READ'], body: { where: 'all' } },
  { call: 'POST /job/api/devices/change', scopes: ['MANAGE'], body: { where: 'all', addTags: ['x'] } },
  { call: 'POST /job/api/devices/import', scopes: ['MANAGE'], body: {} },
  { call: 'PUT /job/api/groups/g', scopes: ['MANAGE'], body: { where: 'all' } },
  {
    call: 'PUT /job/api/schedules/s',
    scopes: ['MANAGE'],
    also: 'TRIGGER',
    body: { jobName: 'restart', targets: { where: 'all' }, when: { cron: '0 3 1 1 *' } },
  },
  { call: 'GET /job/api/schedules', scopes: ['READ'] },
  { call: 'GET /job/api/schedules/s', scopes: ['READ'] },
  { call: 'GET /job/api/schedules/s/next', scopes: ['READ'] },
  { call: 'POST /job/api/schedules/s/pause', scopes: ['MANAGE'] },
  { call: 'POST /job/api/schedules/s/resume', scopes: ['MANAGE'], also: 'TRIGGER' },
  { call: 'POST /job/api/schedules/nothing/fire', scopes: ['TRIGGER'] },
  { call: 'DELETE /job/api/schedules/nothing', scopes: ['MANAGE'] },
  { call: 'GET /job/api/groups', scopes: ['READ'] },
  { call: 'GET /job/api/groups/g', scopes: ['READ'] },
  { call: 'DELETE /job/api/groups/nothing', scopes: ['MANAGE'] },
  { call: 'PUT /job/api/secrets/S', scopes: ['MANAGE'], body: { value: 'any value' } },
  { call: 'GET /job/api/secrets', scopes: ['READ'] },
  { call: 'GET /job/api/secrets/S', scopes: ['READ'] },
  { call: 'DELETE /job/api/secrets/NOTHING', scopes: ['MANAGE'] },
  { call: 'PUT /job/api/files/f/1', scopes: ['MANAGE'], body: { any: 'content' } },
  { call: 'GET /job/api/files', scopes: ['READ'] },
  { call: 'GET /job/api/files/f', scopes: ['READ'] },
  { call: 'GET /job/api/files/f/1', scopes: ['READ'] },
  { call: 'GET /job/api/files/f/1/content', scopes: ['READ'] },
  { call: 'DELETE /job/api/files/f/nothing', scopes: ['MANAGE'] },
  { call: 'PUT /job/api/windows/w', scopes: ['MANAGE'], body: { cron: '0 2 * * *', durationMinutes: 60 } },
  { call: 'GET /job/api/windows', scopes: ['READ'] },
  { call: 'GET /job/api/windows/w', scopes: ['READ'] },
  { call: 'GET /job/api/windows/w/next', scopes: ['READ'] },
  { call: 'DELETE /job/api/windows/nothing', scopes: ['MANAGE'] },
  { call: 'GET /job/api/devices/d1', scopes: ['READ'] },
  { call: 'PUT /job/api/devices/d1', scopes: ['MANAGE'], body: {} },
  { call: 'PATCH /job/api/devices/d1', scopes: ['MANAGE'], body: {} },
  { call: 'DELETE /job/api/devices/nobody', scopes: ['MANAGE'] },
  { call: 'POST /job/api/devices/d1/credential', scopes: ['MANAGE'] },
  { call: 'DELETE /job/api/devices/d1/credential', scopes: ['MANAGE'] },
  { call: 'POST /job/api/devices/d1/allow-certificate', scopes: ['MANAGE'] },
  { call: 'POST /job/api/enrollments', scopes: ['MANAGE'], body: {} },
  { call: 'GET /job/api/enrollments', scopes: ['READ'] },
  { call: 'DELETE /job/api/enrollments/none', scopes: ['MANAGE'] },
  { call: 'POST /job/api/keys', scopes: ['MANAGE', 'ADMIN'], body: { keyName: 'none' } },
  { call: 'GET /job/api/keys', scopes: ['READ', 'MANAGE', 'ADMIN'] },
  { call: 'DELETE /job/api/keys/none', scopes: ['MANAGE', 'ADMIN'] },
  { call: 'GET /job/api/audit', scopes: ['AUDIT'] },
  { call: 'GET /job/api/audit/export', scopes: ['AUDIT'] },
  { call: 'GET /job/api/audit/checkpoint', scopes: ['AUDIT'] },
  { call: 'GET /job/api/bridges', scopes: ['READ'] },
  { call: 'GET /job/api/sessions', scopes: ['MANAGE', 'ADMIN'] },
  { call: 'DELETE /job/api/sessions/none', scopes: ['MANAGE', 'ADMIN'] },
  { call: 'POST /job/api/owners', scopes: ['ADMIN'], body: { ownerName: 'another' } },
  { call: 'GET /job/api/owners', scopes: ['ADMIN'] },
]

/** Any valid key may read itself and create a ticket, and signing in or out requires no key. */
const openToAll = [
  'GET /job/api/keys/self',
  'POST /job/api/session/tickets',
  'POST /job/api/session/tickets/check',
  'POST /job/api/session/exchange',
  'POST /job/api/session',
  'DELETE /job/api/session',
]

for (const { call, scopes: needed, also, body } of routes) {
  const [method = '', path = ''] = call.split(' ')
  const others = scopes.filter((scope) => !needed.includes(scope))

  test(`${call} answers J-804 naming ${needed[0]} to a key with ${others.join(', ') || 'no scope'}`, async () => {
    const { apiKey } = await api.newKey(others)
    assertRefused(await api.call(method, path, { key: apiKey, body }), 'J-804', needed[0])
  })

  test(`${call} answers J-804 before it looks at the body or the path`, async () => {
    const { apiKey } = await api.newKey(others)
    const wrong = method === 'GET' ? {} : { rawBody: '{' }
    assertRefused(
      await api.call(method, `${path}${path.includes('?') ? '&' : '?'}limit=x`, { key: apiKey, ...wrong }),
      'J-804',
      needed[0],
    )
  })

  if (also) {
    test(`${call} answers J-804 naming ${also} to a key without it`, async () => {
      const { apiKey } = await api.newKey(scopes.filter((scope) => scope !== also))
      assertRefused(await api.call(method, path, { key: apiKey, rawBody: '{' }), 'J-804', also)
    })
  }

  for (const scope of needed) {
    test(`${call} is open to a key with ${scope} ${also ? `and ${also}` : 'alone'}`, async () => {
      const { apiKey } = await api.newKey(also ? [scope, also] : [scope])
      const reply = await api.call(method, path, { key: apiKey, body })
      assert.ok([200, 201, 202, 204, 404, 409, 410].includes(reply.status), reply.text)
      assert.doesNotMatch(reply.json?.code ?? '', /^J-80[234]$/)
    })
  }
}

test('the table above has every route under /job/api', async () => {
  const { paths } = (await api.call('GET', '/openapi.json')).json as { paths: Record<string, object> }
  const described = Object.entries(paths)
    .filter(([path]) => path.startsWith('/job/api/'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
  const matches = (template: string, call: string) =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(call.split('?')[0] ?? '')
  for (const template of described.filter((each) => !openToAll.includes(each))) {
    assert.ok(
      routes.some(({ call }) => matches(template, call)),
      `${template} is missing`,
    )
  }
})
