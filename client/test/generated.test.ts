// What the client knows of the API is what the API is.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type EventPattern, type EventType, errorCodes } from '@jobcast/client'
import { errorCatalogue, eventPatterns, eventTypes } from '@jobcast/contract'
import {
  errorCodesFile,
  errorCodesText,
  resourcesFile,
  resourcesText,
  schemasFile,
  schemasText,
} from '../generate/generate.ts'

test('the types are those of docs/openapi.json; if not: npm run generate', async () => {
  assert.equal(readFileSync(schemasFile, 'utf8'), await schemasText())
})

test('the resources are those of the contract; if not: npm run generate', () => {
  assert.equal(readFileSync(resourcesFile, 'utf8'), resourcesText())
})

test('the codes are those of the error catalogue; if not: npm run generate', () => {
  assert.equal(readFileSync(errorCodesFile, 'utf8'), errorCodesText())
  assert.deepEqual([...errorCodes].sort(), Object.keys(errorCatalogue).sort())
})

test('the client names the types of events that the contract names', () => {
  // Checked by the compiler, both ways.
  const types: readonly EventType[] = eventTypes
  const known: Record<EventPattern, true> = {
    ...(Object.fromEntries(types.map((type) => [type, true])) as Record<EventType, true>),
    'run.*': true,
    'execution.*': true,
    'device.*': true,
    'fleet.*': true,
    'schedule.*': true,
    'key.*': true,
    'enrollment.*': true,
    'webhook.*': true,
    'session.*': true,
    'owner.*': true,
  }
  assert.deepEqual(Object.keys(known).sort(), [...eventPatterns].sort())
})
