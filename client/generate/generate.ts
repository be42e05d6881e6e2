// Writes what the client knows of the API: types from docs/openapi.json, resources from their descriptions, codes from the
// catalogue, events from their map. A test compares.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  errorCatalogue,
  eventData,
  eventNouns,
  eventTypes,
  type Resource,
  resources,
} from '@jobcast/contract'
import { type ApiDocument, schemaTypes } from './schema-types.ts'

export const schemasFile = new URL('../src/schemas.ts', import.meta.url)
export const errorCodesFile = new URL('../src/error-codes.ts', import.meta.url)
export const resourcesFile = new URL('../src/resources.ts', import.meta.url)
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

export function resourcesText(): string {
  const all: Resource[] = Object.values(resources)
  const tables = all.map(({ name, noun, key, content, notFound, shownOnce }) => [
    name,
    { noun, key, fields: Object.keys(content.properties), notFound, ...(shownOnce && { shownOnce }) },
  ])
  const types = all.map(({ name, noun, content, view, created = view }) => {
    const query = `List${noun.charAt(0).toUpperCase()}${noun.slice(1)}sQuery`
    return {
      name,
      types: { content: titleOf(content), view: titleOf(view), created: titleOf(created), query },
    }
  })
  const imported = new Set(types.flatMap((each) => Object.values(each.types)))
  return formatted(
    resourcesFile,
    `// Written by \`npm run generate\` from the descriptions of resources; do not edit.

import type { ErrorCode } from './error-codes.ts'
import type { ${[...imported].sort().join(', ')} } from './schemas.ts'

export type ResourceName = keyof ResourceTypes
type ResourceFacts = {
  noun: string
  /** The field that names it. */
  key: string
  /** What can be put. */
  fields: readonly string[]
  notFound: ErrorCode
  /** The field that is generated unless it is given, and is never shown again. */
  shownOnce?: string
}

/** What is put, got, listed and deleted by its name. */
export const resources: Readonly<Record<ResourceName, ResourceFacts>> = ${JSON.stringify(Object.fromEntries(tables))}

export type ResourceTypes = {
${types
  .map(
    ({ name, types }) =>
      `  ${name}: { ${Object.entries(types)
        .map(([key, type]) => `${key}: ${type}`)
        .join('; ')} }`,
  )
  .join('\n')}
}
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
export const eventPatterns = [${eventNouns.map((noun) => `'${noun}.*'`).join(', ')}, ...eventTypes] as const

/** What events are about, and the data that comes with them. */
export type EventDataByNoun = { ${data.map(([noun, title]) => `${noun}: ${title}`).join('; ')} }
`,
  )
}

function titleOf(schema: object): string {
  return String((schema as { title?: string }).title)
}

function formatted(file: URL, text: string): string {
  const args = [biome, 'format', `--stdin-file-path=${fileURLToPath(file)}`]
  return execFileSync(process.execPath, args, { input: text, encoding: 'utf8' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(schemasFile, await schemasText())
  writeFileSync(resourcesFile, resourcesText())
  writeFileSync(errorCodesFile, errorCodesText())
  writeFileSync(eventTypesFile, eventTypesText())
}
