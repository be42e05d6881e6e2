// Writes what the client knows of the API: types from docs/openapi.json, codes from the catalogue. A test compares.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { errorCatalogue } from '@jobcast/contract'
import { type ApiDocument, schemaTypes } from './schema-types.ts'

export const schemasFile = new URL('../src/schemas.ts', import.meta.url)
export const errorCodesFile = new URL('../src/error-codes.ts', import.meta.url)
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

function formatted(file: URL, text: string): string {
  const args = [biome, 'format', `--stdin-file-path=${fileURLToPath(file)}`]
  return execFileSync(process.execPath, args, { input: text, encoding: 'utf8' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(schemasFile, await schemasText())
  writeFileSync(errorCodesFile, errorCodesText())
}
