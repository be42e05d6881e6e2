// The only file that knows which stores there are.

import type { Store } from '../domain/store.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'

export function openStore(dataFolder: string, onLost: (error: Error) => void): Store {
  return openSqliteStore({ folder: dataFolder, onLost })
}
