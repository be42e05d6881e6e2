// Tokens for a fleet in one transaction: by the API ten thousand of them would be as many commits.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { hashSecret, newSecretText } from '../../src/domain/access/secret-text.ts'

/** The server must not run. Gives the token of each device. */
export function seedTokens(dataFolder: string, deviceIds: readonly string[]): Map<string, string> {
  const db = new DatabaseSync(join(dataFolder, 'jobcast.db'))
  const set = db.prepare(
    'UPDATE device SET token_id = ?, token_hash = ?, token_created_at = ? WHERE device_id = ?',
  )
  const tokens = new Map<string, string>()
  db.exec('BEGIN')
  for (const deviceId of deviceIds) {
    const { id, text } = newSecretText('jd')
    set.run(id, hashSecret(text), Date.now(), deviceId)
    tokens.set(deviceId, text)
  }
  db.exec('COMMIT')
  db.close()
  return tokens
}
