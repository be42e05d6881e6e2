// Creates the first key on an empty database, and reports settings that name unknown keys or owners.

import { isStoredKey } from '../domain/access/api-key.ts'
import { findUnknownOwners } from '../domain/access/unknown-owners.ts'
import { ensureAdminKey } from '../secrets/admin-key.ts'
import type { LinkedParts } from './link-nodes.ts'
import type { Start } from './start.ts'

/** Returns the new key; undefined if keys already exist. */
export async function ensureKeys({ config, tell }: Start, parts: LinkedParts): Promise<string | undefined> {
  const newAdminKey = await ensureAdminKey(parts, config.dataFolder, config.adminKey)
  if (config.adminKey && !(await isStoredKey(parts, config.adminKey))) tell({ kind: 'admin-key-unused' })
  for (const unknown of await findUnknownOwners(parts)) tell({ kind: 'unknown-owner', ...unknown })
  return newAdminKey
}
