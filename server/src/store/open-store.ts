// The only file that knows which stores there are.

import type { Store } from '../domain/store.ts'
import { openPostgresStore } from './postgres/postgres-store.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'

export type StorePlace = { dataFolder: string; databaseUrl: string | undefined }

export async function openStore(place: StorePlace, onLost: (error: Error) => void): Promise<Store> {
  const { dataFolder, databaseUrl } = place
  if (databaseUrl === undefined) return openSqliteStore({ folder: dataFolder, onLost })
  return openPostgresStore({ url: databaseUrl })
}

/** Where the data is, for people: without the password. */
export function describePlace({ dataFolder, databaseUrl }: StorePlace): string {
  if (databaseUrl === undefined) return dataFolder
  const { host, pathname } = new URL(databaseUrl)
  return `postgres://${host}${pathname}`
}
