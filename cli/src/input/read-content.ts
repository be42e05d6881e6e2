// Reads the content of a resource from a YAML or JSON file; - is standard input.

import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { systemReason } from '@jobcast/contract/words'
import { UsageError } from '../errors/usage-error.ts'
import { yamlReason } from '../errors/yaml-reason.ts'
import type { Io } from '../io.ts'

export async function readContent(io: Io, file: string): Promise<Record<string, unknown>> {
  const content = await parseContent(file, await readText(io, file))
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new UsageError(`${nameOf(file)} must contain a map of fields`)
  return content as Record<string, unknown>
}

const nameOf = (file: string) => (file === '-' ? 'standard input' : file)

/** A file that cannot be read is a usage error. */
export async function readText({ stdin }: Io, file: string): Promise<string> {
  try {
    return file === '-' ? await text(stdin) : readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${nameOf(file)}: ${systemReason(error as Error)}`)
  }
}

async function parseContent(file: string, source: string): Promise<unknown> {
  // Not a static import: most commands read no file, and this one has 72 modules.
  const { parse } = await import('yaml')
  try {
    return parse(source)
  } catch (error) {
    throw new UsageError(`${nameOf(file)} is not valid YAML: ${yamlReason(error as Error)}`)
  }
}
