// Reads the files, folders and standard input (-) of -f as text.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { systemReason } from '@jobcast/contract/words'
import { UsageError } from '../errors/usage-error.ts'

export type Source = { file: string; text: string }

const fleetFile = /\.(?:ya?ml|json)$/

/** For a folder, reads its .yaml, .yml and .json files by name, without subfolders. */
export async function readSources(stdin: Readable, paths: readonly string[]): Promise<Source[]> {
  const sources: Source[] = []
  for (const path of new Set(paths)) {
    if (path === '-') sources.push({ file: 'standard input', text: await text(stdin) })
    else for (const file of readable(path, filesAt)) sources.push({ file, text: readable(file, textOf) })
  }
  return sources
}

const textOf = (file: string) => readFileSync(file, 'utf8')

function readable<T>(path: string, read: (path: string) => T): T {
  try {
    return read(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    throw new UsageError(`cannot read ${path}: ${systemReason(error as Error)}`)
  }
}

function filesAt(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const files = readdirSync(path, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && fleetFile.test(entry.name))
    .map(({ name }) => join(path, name))
    .sort()
  if (files.length === 0) throw new UsageError(`no .yaml, .yml or .json file found in ${path}`)
  return files
}
