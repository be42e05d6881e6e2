// The store on PostgreSQL as the suite for all stores sees it.

import type { TestContext } from 'node:test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import type { Store } from '../../src/domain/common/ports/store.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import type { StoreUnderTest } from './store-under-test.ts'

export async function openPostgresUnderTest(t: TestContext, server: string): Promise<StoreUnderTest> {
  const url = await createDatabase(server)
  let store = await openPostgresStore({ url })
  t.after(() => store.close())
  return {
    get store() {
      return store
    },
    async reopen() {
      await store.close()
      store = await openPostgresStore({ url })
      return store
    },
    failAt: (instant) => failAt(url, instant),
    async countRows(table) {
      const [row] = await execute(url, `SELECT count(*)::int AS count FROM ${table}`)
      return row?.count as number
    },
    async execute(sql) {
      await execute(url, sql)
    },
  }
}

async function failAt(url: string, instant: number): Promise<void> {
  const refuse = (name: string, event: string, columns: string[]) => {
    const when = columns.map((column) => `NEW.${column} = ${instant}`).join(' OR ')
    return `CREATE TRIGGER ${name} AFTER ${event} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse()`
  }
  await execute(
    url,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'refused'; END$$`,
    refuse('refuse_run', 'INSERT ON run', ['launched_at']),
    refuse('refuse_move', 'UPDATE ON execution', ['updated_at']),
    ...['job', 'device'].flatMap((table) => [
      refuse(`refuse_new_${table}`, `INSERT ON ${table}`, ['updated_at']),
      refuse(`refuse_${table}`, `UPDATE ON ${table}`, ['updated_at', 'deleted_at']),
    ]),
  )
}

/** Two nodes on a database of their own. */
export async function openNodes(t: TestContext): Promise<{ url: string; nodes: [Store, Store] }> {
  const url = await createDatabase(await sharedPostgres())
  const nodes: [Store, Store] = [await openPostgresStore({ url }), await openPostgresStore({ url })]
  t.after(() => Promise.all(nodes.map((node) => node.close())))
  return { url, nodes }
}
