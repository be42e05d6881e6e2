// A rolling upgrade: the earlier program continues to work during the migration by the new one, and next to it.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { deviceCalls } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { startProgram } from '@jobcast/testkit/spawn-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { newSecretText } from '../../src/domain/access/secret-text.ts'
import { checkOutEarlier } from './earlier-program.ts'

const deviceIds = ['kiosk-1', 'kiosk-2', 'kiosk-3']

test('the earlier version and this one share a database during and after the migration', async (t) => {
  const folder = temporaryFolder(t)
  const earlier = checkOutEarlier(folder)
  if ('missing' in earlier) return t.skip(earlier.missing)

  const postgres = await sharedPostgres()
  await execute(`${postgres}/postgres`, 'CREATE DATABASE upgraded')
  const env = { DATABASE_URL: `${postgres}/upgraded`, JOBCAST_ADMIN_KEY: newSecretText('jc').text }
  const first = startProgram(join(folder, 'one'), { env, program: earlier.path })
  t.after(() => first.end('SIGKILL'))
  const old = await first.ready
  await old.call('PUT', '/job/api/jobs/restart', { body: {} })
  for (const deviceId of deviceIds) await old.call('PUT', `/job/api/devices/${deviceId}`, { body: {} })
  const { deviceToken } = (await old.call('POST', '/job/api/devices/kiosk-1/credential')).json

  // Callers of the earlier version do not stop while the new one starts.
  const created: number[] = []
  let isStarted = false
  const calling = (async () => {
    while (!isStarted) created.push(...(await trigger(old)))
  })()
  const { DATABASE_URL: databaseUrl, JOBCAST_ADMIN_KEY: adminKey } = env
  const current: Api = await openServer(t, { databaseUrl, adminKey }).finally(() => {
    isStarted = true
  })
  await calling
  assert.ok(created.length > 0)

  // Each can do what it could before, with what the other has made.
  created.push(...(await trigger(current)), ...(await trigger(old)))
  for (const api of [old, current]) {
    const { json } = await api.call('GET', `/job/api/executions/${created.at(-1)}`)
    assert.equal(json.execState, 'PENDING')
  }
  for (const [taking, reporting] of [
    [old, current],
    [current, old],
  ] as const) {
    const at = (api: Api) => deviceCalls(api.http, 'kiosk-1', deviceToken)
    const { jobId } = (await at(taking).startNext()).json.execution
    const report = await at(reporting).update(Number(jobId), 'SUCCEEDED')
    assert.equal(report.status, 200)
    assert.equal((await taking.call('GET', `/job/api/executions/${jobId}`)).json.execState, 'SUCCEEDED')
  }
  assert.equal(new Set(created).size, created.length)
})

async function trigger(api: Api): Promise<number[]> {
  const { status, json, text } = await api.trigger('restart', deviceIds)
  assert.equal(status, 201, text)
  return json.map(({ jobExecutionId }: { jobExecutionId: number }) => jobExecutionId)
}
