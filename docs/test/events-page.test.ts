import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventNouns, eventPatterns, eventTypes } from '@jobcast/contract'
import { eventsPageText } from '../../server/generate/events-page.ts'
import { readPage } from './pages.ts'

const page = readPage('docs/events.md')

test('the table of types in docs/events.md is that of the map; if not: npm run generate', () => {
  assert.equal(page, eventsPageText())
  const documented = [...page.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \|/gm)].map(([, type]) => type)
  assert.deepEqual(documented, eventTypes)
})

test('docs/events.md has the data of each noun, and of no other', () => {
  const described = [...page.matchAll(/^\| `([a-z]+)\.\*` \|/gm)].map(([, noun]) => noun)
  assert.deepEqual(described, eventNouns)
})

test('docs/openapi.json has the types, the data and the patterns of the map', () => {
  const { schemas } = JSON.parse(readPage('docs/openapi.json')).components
  assert.deepEqual(schemas.Event.properties.type.enum, eventTypes)
  assert.equal(schemas.Event.properties.data.anyOf.length, eventNouns.length)
  assert.deepEqual(schemas.WebhookContent.properties.eventTypes.items.enum, eventPatterns)
})
