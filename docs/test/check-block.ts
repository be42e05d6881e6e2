// Blocks that are not run, because they are parts of something that is.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as contract from '@jobcast/contract'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Block } from './markdown.ts'
import { repository } from './pages.ts'

/** A JSON value as the API describes it under this name. */
export function checkDescribed({ text }: Block, name: string): void {
  const schema = Object.values<unknown>(contract).find(
    (each) => (each as { title?: unknown })?.title === name,
  )
  if (schema === undefined) throw new Error(`the API describes nothing called ${name}`)
  const [error] = Compile(schema as TSchema).Errors(JSON.parse(text))
  if (error) throw new Error(`as ${name}: ${error.instancePath} ${error.message}`)
}

/** Lines of a file, in its order; indentation and remarks behind a line are the page's own. */
export function checkExcerpt({ text }: Block, file: string): void {
  const lines = readFileSync(join(repository, file), 'utf8')
    .split('\n')
    .map((line) => line.trim())
  let at = -1
  for (const line of text.trim().split('\n')) {
    at = lines.indexOf(line.replace(/ \/\/ .*/, '').trim(), at + 1)
    if (at === -1) throw new Error(`${file} has no such line: ${line}`)
  }
}
