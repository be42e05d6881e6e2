// Examines a PostgreSQL database before a service uses it. Changes nothing.

import { type Migration, StartRefused } from '../migrate.ts'
import { oldestVersion, onConnection, readSchema, readServer, type Schema } from './migrate-database.ts'

// Rolled back, because it only checks whether the database can be written.
const TRY_CREATE = 'CREATE TEMPORARY TABLE jobcast_write_probe (writes bigint) ON COMMIT DROP'
const TRY_UPDATE = 'UPDATE write_probe SET writes = writes + 1'

export type DatabaseExamination = {
  version: string
  isNewEnough: boolean
  encoding: string
  fsync: string
  synchronousCommit: string
  /** `refused`: the error for a database of a newer or an unreleased program. */
  schema: Schema | { refused: string }
  /** Why the database cannot be written; undefined: it can. */
  writeTrouble: string | undefined
}

export function examinePostgres(url: string, migrations: Migration[]): Promise<DatabaseExamination> {
  return onConnection(url, async (client) => {
    const server = await readServer(client)
    const schema = await readSchema(client, migrations).catch((error: unknown) => {
      if (error instanceof StartRefused) return { refused: error.message }
      throw error
    })
    const hasTables = 'refused' in schema || schema.applied > 0
    let writeTrouble: string | undefined
    try {
      await client.query('BEGIN')
      await client.query(hasTables ? TRY_UPDATE : TRY_CREATE)
    } catch (error) {
      writeTrouble = (error as Error).message
    }
    await client.query('ROLLBACK')
    return {
      version: server.version_text,
      isNewEnough: server.version >= oldestVersion,
      encoding: server.encoding,
      fsync: server.fsync,
      synchronousCommit: server.synchronous,
      schema,
      writeTrouble,
    }
  })
}
