// Reads the content of a resource from a YAML or JSON file; - is standard input.

import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { parse } from 'yaml'
import { UsageError } from '../errors/usage-error.ts'
import type { Io } from '../io.ts'

export async function readContent({ stdin }: Io, file: string): Promise<Record<string, unknown>> {
  const content = parseContent(file, file === '-' ? await text(stdin) : readFileSync(file, 'utf8'))
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new UsageError(`${file} must contain a map of fields`)
  return content as Record<string, unknown>
}

function parseContent(file: string, source: string): unknown {
  try {
    return parse(source)
  } catch (error) {
    throw new UsageError(`${file} is not valid YAML: ${(error as Error).message.split('\n')[0]}`)
  }
}
