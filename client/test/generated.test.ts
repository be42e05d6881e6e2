// The generated definitions of the client match the API.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { errorCodes, eventPatterns, eventTypes } from '@jobcast/client'
import {
  eventPatterns as contractPatterns,
  eventTypes as contractTypes,
  errorCatalogue,
} from '@jobcast/contract'
import {
  errorCodesFile,
  errorCodesText,
  eventTypesFile,
  eventTypesText,
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

test('the types of events are those of the map; if not: npm run generate', () => {
  assert.equal(readFileSync(eventTypesFile, 'utf8'), eventTypesText())
  assert.deepEqual(eventTypes, contractTypes)
  assert.deepEqual(eventPatterns, contractPatterns)
})
