// The files that a document names: in its field `files`, which agents fetch before a handler starts, and in placeholders.

import { fileVariable } from './parameter-schema.ts'
import { PlaceholderError } from './placeholder.ts'
import type { DocumentTemplate } from './template.ts'

/** `ref`: `NAME` (the newest version) or `NAME@VERSION`. `sha256`: the required hash of the content. */
export type DocumentFile = { ref: string; fileName: string; sha256?: string }

/** The facts of a file that a device gets. */
export type FileFacts = {
  version: string
  url: string
  size: number
  sha256: string
  sha1: string | null
  md5: string | null
}

export const maxDocumentFiles = 16
const refRule = /^([A-Za-z0-9_-]{1,64})(?:@(?!\.{1,2}$)[A-Za-z0-9._+-]{1,64})?$/
const sha256Rule = /^[0-9a-f]{64}$/
const expected = 'expected NAME, NAME@VERSION, or {"name": "NAME@VERSION", "sha256": "…"}'

/**
 * Reads the field `files`. Lists with entries of another form, such as in documents of AWS, are ignored. Throws a
 * PlaceholderError.
 */
export function documentFiles(document: unknown): DocumentFile[] {
  const entries = fieldsOf(document).files
  if (!Array.isArray(entries) || !entries.every(isOurs)) return []
  if (entries.length > maxDocumentFiles) {
    throw new PlaceholderError(`a document has at most ${maxDocumentFiles} files`)
  }
  const found = entries.map(readEntry)
  const variables = new Map<string, string>()
  for (const { ref, fileName } of found) {
    const variable = fileVariable(fileName)
    const other = variables.get(variable)
    if (other !== undefined) {
      throw new PlaceholderError(`the files ${other} and ${ref} have one environment variable: ${variable}`)
    }
    variables.set(variable, ref)
  }
  return found
}

/** The files in the field `files` and in placeholders, sorted and without duplicates. Throws a PlaceholderError. */
export function filesUsed(document: unknown, { holes }: DocumentTemplate): string[] {
  const named = documentFiles(document).map(({ ref }) => ref)
  const filled = holes.filter(({ from }) => from === 'file').map(({ name }) => refOf(name))
  const refs = [...new Set([...named, ...filled])].sort()
  if (refs.length > maxDocumentFiles) {
    throw new PlaceholderError(`a document has at most ${maxDocumentFiles} files`)
  }
  return refs
}

/** The values of placeholders for files. */
export function fileValues(files: Readonly<Record<string, FileFacts>>): Record<string, string | number> {
  const values = Object.entries(files).flatMap(([ref, { version, url, size, sha256, sha1 }]) =>
    Object.entries({ version, url, size, sha256, ...(sha1 !== null && { sha1 }) }).map(
      ([field, value]) => [`${ref}.${field}`, value] as const,
    ),
  )
  return Object.fromEntries(values)
}

function refOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'))
}

function isOurs(entry: unknown): boolean {
  return typeof entry === 'string' || typeof fieldsOf(entry).name === 'string'
}

function readEntry(entry: unknown): DocumentFile {
  const { name, sha256, ...others } = typeof entry === 'string' ? { name: entry } : fieldsOf(entry)
  const fileName = typeof name === 'string' ? refRule.exec(name)?.[1] : undefined
  const isHash = sha256 === undefined || (typeof sha256 === 'string' && sha256Rule.test(sha256))
  if (fileName === undefined || !isHash || Object.keys(others).length > 0) {
    throw new PlaceholderError(`there is no file ${JSON.stringify(entry).slice(0, 100)}: ${expected}`)
  }
  return { ref: String(name), fileName, ...(sha256 !== undefined && { sha256: String(sha256) }) }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
