// Writes what the client knows of the API: types from docs/openapi.json, codes from the catalogue, events from their map.
// A test compares.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { errorCatalogue, eventData, eventNouns, eventPatterns, eventTypes } from '@jobcast/contract'
import { type ApiDocument, schemaTypes } from './schema-types.ts'

export const schemasFile = new URL('../src/schemas.ts', import.meta.url)
export const errorCodesFile = new URL('../src/error-codes.ts', import.meta.url)
export const eventTypesFile = new URL('../src/event-types.ts', import.meta.url)
const openApiFile = new URL('../../docs/openapi.json', import.meta.url)
const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url))

export function readApiDocument(): ApiDocument {
  return JSON.parse(readFileSync(openApiFile, 'utf8')) as ApiDocument
}

export async function schemasText(): Promise<string> {
  const heading = '// Written by `npm run generate` from docs/openapi.json; do not edit.\n\n'
  return formatted(schemasFile, heading + (await schemaTypes(readApiDocument())))
}

export function errorCodesText(): string {
  const codes = Object.keys(errorCatalogue)
  return formatted(
    errorCodesFile,
    `// Written by \`npm run generate\` from the error catalogue; do not edit.

export const errorCodes = ${JSON.stringify(codes)} as const

/** What each means is in docs/errors.md. */
export type ErrorCode = (typeof errorCodes)[number]
`,
  )
}

export function eventTypesText(): string {
  const data = eventNouns.map(
    (noun) => [noun, String((eventData[noun] as { title?: string }).title)] as const,
  )
  return formatted(
    eventTypesFile,
    `// Written by \`npm run generate\` from the map of events; do not edit.

import type { ${data
      .map(([, title]) => title)
      .sort()
      .join(', ')} } from './schemas.ts'

export const eventTypes = ${JSON.stringify(eventTypes)} as const

/** What a filter may name: all types of a noun, or one type. */
export const eventPatterns = ${JSON.stringify(eventPatterns)} as const

/** What events are about, and the data that comes with them. */
export type EventDataByNoun = { ${data.map(([noun, title]) => `${noun}: ${title}`).join('; ')} }
`,
  )
}

function formatted(file: URL, text: string): string {
  const args = [biome, 'format', `--stdin-file-path=${fileURLToPath(file)}`]
  return execFileSync(process.execPath, args, { input: text, encoding: 'utf8' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(schemasFile, await schemasText())
  writeFileSync(errorCodesFile, errorCodesText())
  writeFileSync(eventTypesFile, eventTypesText())
}
