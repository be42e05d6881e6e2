// Creates an ADMIN key in the database for an operator who has lost theirs, while the service does not run.

import { createAdminKey } from '../domain/access/api-key.ts'
import type { SecretText } from '../domain/access/secret-text.ts'
import { DatabaseMissing, StartRefused } from '../store/migrate.ts'
import { checkSchema, describePlace, openStore, type StorePlace } from '../store/open-store.ts'

export async function resetAdminKey(place: StorePlace, now: () => number): Promise<SecretText> {
  const { from, to } = await checkSchema(place)
  const where = describePlace(place)
  if (from === 0) throw new DatabaseMissing(`There is no database at ${where}.`)
  if (from !== to) {
    throw new StartRefused(
      `The database at ${where} has schema ${from}, not ${to}. Migrate it first: jobcast migrate.`,
    )
  }
  const { store } = await openStore(place, () => undefined)
  try {
    const secret = await createAdminKey({ store, now })
    if (secret) return secret
  } finally {
    await store.close()
  }
  throw new StartRefused(
    `The database at ${where} has no owner yet. Start the service: it creates an ADMIN key.`,
  )
}
