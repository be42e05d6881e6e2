// Counts of large sets on PostgreSQL are the same as if each device were looked at.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesSelector, parseSelector } from '@jobcast/contract/selector'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import pg from 'pg'
import { connectionOptions } from '../../src/store/postgres/connect.ts'
import { buildNamedQueries } from '../../src/store/postgres/named-queries.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { countBySets } from '../../src/store/tables/selected-sets.ts'
import { createOne, devicePut, moveOf, seedOwner, startedAt } from './store-under-test.ts'

const url = await createDatabase(await sharedPostgres())

test('sets of devices are counted as each device would be', async (t) => {
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  const client = new pg.Client({ ...connectionOptions(url), pipeline: false })
  await client.connect()
  t.after(() => client.end())
  const queries = buildNamedQueries((sql, values) => client.query(sql, values as unknown[]))
  const ids = Array.from({ length: 60 }, (_, index) => `d${index}`)
  const { ownerNo, trigger } = await seedOwner(store, { devices: ids })
  const other = await seedOwner(store, { devices: ids })
  const devices = ids.map((deviceId, index) => ({
    deviceId,
    deviceName: deviceId,
    tags: index % 2 === 0 ? ['kiosk'] : [],
    attributes: { fw: ['2.3', '2.10', 'v2.4', 'beta'][index % 4] ?? '', slot: index % 7 },
    reportedAttributes: index % 3 === 0 ? { fw: '1.0', ram: index } : {},
    online: index % 5 === 0,
  }))
  const puts = devices.map(({ deviceId, tags, attributes }) => ({ deviceId, tags, attributes }))
  for (const owner of [ownerNo, other.ownerNo]) {
    await store.putDevices(puts.map((put) => ({ ...devicePut(owner, put.deviceId), ...put })))
    await store.recordAttributes(
      devices.map(({ deviceId, reportedAttributes: changes }) => ({
        device: { ownerNo: owner, deviceId },
        changes,
        at: startedAt,
      })),
    )
  }
  await execute(
    url,
    `UPDATE device SET online = true WHERE device_id IN (${ids.filter((_, index) => index % 5 === 0).map((id) => `'${id}'`)})`,
  )
  const { firstExecutionId } = await createOne(store, trigger(ids.slice(0, 20)))
  for (let index = 0; index < 10; index++) {
    await store.moveExecution(moveOf(ownerNo, firstExecutionId + index, 'start'))
  }
  await store.moveExecution(moveOf(ownerNo, firstExecutionId + 1, 'cancel'))
  await store.moveExecution(moveOf(ownerNo, firstExecutionId + 2, 'succeed'))
  const busy = new Set(ids.slice(0, 10).filter((_, index) => index !== 2))

  for (const text of [
    'fw<2.4',
    'fw<2.4 and slot<4',
    'fw!=2.3 and slot!=3',
    'fw>=2.4 and slot in (1, 2, 3) and ram>10',
    'reported.fw=1.0 and own.fw~2*',
    'fw<9 and tag=kiosk',
    'fw<9 and not online and deviceId~d1*',
    'fw<9 and (slot=1 or tag=kiosk)',
    'fw<9 and fw>1 and fw!=7 and slot>=0 and slot<5',
    'nothing=1 and slot<4',
  ]) {
    const where = parseSelector(text)
    const found = devices.filter((device) => matchesSelector(where, device))
    assert.ok(text.startsWith('nothing') || found.length > 0, text)
    await client.query('BEGIN')
    const counted = await countBySets(queries, { ownerNo, where, isAnyBusy: true })
    await client.query('COMMIT')
    const expected = {
      total: found.length,
      online: found.filter(({ online }) => online).length,
      busy: found.filter(({ deviceId }) => busy.has(deviceId)).length,
    }
    assert.deepEqual({ ...counted }, expected, text)
    const { total, online, busy: working } = await store.countDevices({ ownerNo, where })
    assert.deepEqual({ total, online, busy: working }, expected, text)
  }
  const none = { ownerNo, where: parseSelector('tag=kiosk'), isAnyBusy: false }
  assert.equal(await countBySets(queries, none), undefined)
  assert.deepEqual((await client.query('SHOW enable_nestloop')).rows, [{ enable_nestloop: 'on' }])
})
