// The only file that knows which stores there are.

import type { Nodes } from '../domain/nodes.ts'
import type { Store } from '../domain/store.ts'
import { openPostgresStore } from './postgres/postgres-store.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'

export type StorePlace = { dataFolder: string; databaseUrl: string | undefined }

/** `nodes`: only where others may use the same database. */
export type OpenedStore = { store: Store; nodes: Nodes | undefined }

export async function openStore(place: StorePlace, onLost: (error: Error) => void): Promise<OpenedStore> {
  const { dataFolder, databaseUrl } = place
  if (databaseUrl === undefined) {
    return { store: openSqliteStore({ folder: dataFolder, onLost }), nodes: undefined }
  }
  const { nodes, ...store } = await openPostgresStore({ url: databaseUrl })
  return { store, nodes }
}

/** Where the data is, for people: without the password. */
export function describePlace({ dataFolder, databaseUrl }: StorePlace): string {
  if (databaseUrl === undefined) return dataFolder
  const { host, pathname } = new URL(databaseUrl)
  return `postgres://${host}${pathname}`
}
