// What `npm run generate` writes is committed, so that a review shows it. Here is the proof that it is current.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { openApiFile, openApiText, sqliteSchemaFile, sqliteSchemaText } from '../src/generate.ts'

test('docs/openapi.json is current; if not: npm run generate', async () => {
  assert.equal(readFileSync(openApiFile, 'utf8'), await openApiText())
})

test('schema.sql is what the migrations make; if not: npm run generate', () => {
  assert.equal(readFileSync(sqliteSchemaFile, 'utf8'), sqliteSchemaText())
})
