// What `npm run generate` writes is committed, so that a review shows it. Here is the proof that it is current.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import {
  openApiFile,
  openApiText,
  postgresSchemaFile,
  postgresSchemaText,
  sqliteSchemaFile,
  sqliteSchemaText,
} from '../generate/generate.ts'

test('docs/openapi.json is current; if not: npm run generate', async () => {
  assert.equal(readFileSync(openApiFile, 'utf8'), await openApiText())
})

test('schema.sql of PostgreSQL is what the migrations make; if not: npm run generate', async () => {
  // Not the template itself: none is copied while somebody is connected to it.
  const url = await createDatabase(await sharedPostgres())
  assert.equal(readFileSync(postgresSchemaFile, 'utf8'), await postgresSchemaText(url))
})

test('schema.sql of SQLite is what the migrations make; if not: npm run generate', () => {
  assert.equal(readFileSync(sqliteSchemaFile, 'utf8'), sqliteSchemaText())
})
