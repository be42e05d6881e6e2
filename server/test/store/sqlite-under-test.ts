// The embedded store as the suite for all stores sees it.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { newDataFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { StoreUnderTest } from './store-under-test.ts'

/** `store` is the one that was opened last. */
export function openSqlite(t: TestContext) {
  const folder = newDataFolder()
  const open = () =>
    openSqliteStore({
      folder,
      onLost: (error) => {
        throw error
      },
    })
  let store = open()
  t.after(() => store.close())
  removeAfter(t, folder)
  return {
    folder,
    get store() {
      return store
    },
    async reopen() {
      await store.close()
      store = open()
      return store
    },
  }
}

export async function openSqliteUnderTest(t: TestContext): Promise<StoreUnderTest> {
  const opened = openSqlite(t)
  const { folder, reopen } = opened
  return {
    get store() {
      return opened.store
    },
    reopen,
    failAt: async (instant) => failAt(connect(folder), instant),
    async countRows(table) {
      const db = connect(folder)
      const row = db.prepare(`SELECT count(*) AS count FROM ${table}`).get()
      db.close()
      return row?.count as number
    },
    async execute(sql) {
      const db = connect(folder)
      db.exec(sql)
      db.close()
    },
  }
}

/** A connection of our own: the store's writer waits for it as it would for a backup. */
function connect(folder: string): DatabaseSync {
  return new DatabaseSync(join(folder, 'jobcast.db'), { timeout: 5000 })
}

function failAt(db: DatabaseSync, instant: number): void {
  const refuse = (name: string, event: string, columns: string[]) => {
    const when = columns.map((column) => `NEW.${column} = ${instant}`).join(' OR ')
    db.exec(`CREATE TRIGGER ${name} AFTER ${event} WHEN ${when} BEGIN SELECT RAISE(ABORT, 'refused'); END`)
  }
  refuse('refuse_run', 'INSERT ON run', ['launched_at'])
  refuse('refuse_move', 'UPDATE ON execution', ['updated_at'])
  for (const table of ['job', 'device']) {
    refuse(`refuse_new_${table}`, `INSERT ON ${table}`, ['updated_at'])
    refuse(`refuse_${table}`, `UPDATE ON ${table}`, ['updated_at', 'deleted_at'])
  }
  db.close()
}
