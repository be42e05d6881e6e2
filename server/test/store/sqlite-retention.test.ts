// The space of purged runs in the file is reused.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { openReader } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { createOne, momentAt, olderThan, seedOwner, startedAt } from './store-under-test.ts'

test('under a steady load the file stops growing', async (t) => {
  const folder = newTemporaryFolder()
  const store = openSqliteStore({ folder, onLost: assert.ifError })
  t.after(() => store.close())
  removeAfter(t, folder)
  const devices = Array.from({ length: 500 }, (_, index) => `device-${index}`)
  const { ownerNo, trigger } = await seedOwner(store, { devices })
  const db = openReader(join(folder, 'jobcast.db'))
  t.after(() => db.close())
  const pages: number[] = []
  for (let round = 0; round < 10; round++) {
    const at = startedAt + round
    const { runId } = await createOne(store, trigger(devices, { launchedAt: at }))
    const move = {
      ownerNo,
      runId,
      from: undefined,
      event: 'cancel',
      moment: momentAt(at),
      actor: 'key k1',
    } as const
    assert.equal((await store.moveRun(move))?.moved.length, 500)
    while (await store.purgeEvents({ olderThan: at - 1, now: at - 1 }));
    while (await store.purgeRuns(olderThan(at - 1)));
    pages.push(db.prepare('PRAGMA page_count').get()?.page_count as number)
  }
  const [early = 0, late = 0] = [pages[4], pages.at(-1)]
  assert.ok(late <= early * 1.05, `pages after each round: ${pages.join(', ')}`)
})
