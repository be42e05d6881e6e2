// --output: the format in which a command prints its data.

import { InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../errors/usage-error.ts'
import { type JsonPath, JsonPathError, parseJsonPath } from './json-path.ts'
import { plainText } from './text-width.ts'

export type OutputFormat =
  | { kind: 'json' }
  | { kind: 'yaml' }
  | { kind: 'jsonpath'; expression: string; path: JsonPath }

export type FormatFlags = { json?: boolean; output?: OutputFormat }

/** How a value is written. Undefined if the expression matches nothing in it. */
export type Formatter = {
  document(value: unknown): string | undefined
  /** One item of a stream. */
  item(value: unknown): string | undefined
  /** For messages. */
  expression?: string
}

const choices = ['json', 'yaml', 'jsonpath=']

export function outputOption(): Option {
  return new Option('-o, --output <format>', 'print JSON, YAML, or what a path matches: jsonpath={.runId}')
    .choices(choices)
    .argParser(parseFormat)
}

function parseFormat(text: string): OutputFormat {
  if (text === 'json' || text === 'yaml') return { kind: text }
  const expression = /^jsonpath=(.+)$/s.exec(text)?.[1]
  if (expression === undefined) {
    throw new InvalidArgumentError('It must be json, yaml or jsonpath= with a path such as {.runId}.')
  }
  try {
    return { kind: 'jsonpath', expression, path: parseJsonPath(expression) }
  } catch (error) {
    throw error instanceof JsonPathError ? new InvalidArgumentError(error.message) : error
  }
}

/** Undefined means text for people. `--json` is short for `--output json`. */
export async function formatterOf(
  { json, output }: FormatFlags,
  isTerminal: boolean,
): Promise<Formatter | undefined> {
  if (json && output !== undefined && output.kind !== 'json')
    throw new UsageError('--json and --output cannot be used together')
  if (output === undefined || output.kind === 'json') return json || output ? jsonFormatter : undefined
  return output.kind === 'yaml' ? yamlFormatter() : pathFormatter(output, isTerminal)
}

const jsonFormatter: Formatter = {
  document: (value) => JSON.stringify(value, null, 2),
  item: (value) => JSON.stringify(value),
}

/** YAML is loaded only when it is requested. */
async function yamlFormatter(): Promise<Formatter> {
  const { stringify } = await import('yaml')
  // Readers of YAML 1.1 would take an unquoted `no` for false.
  const text = (value: unknown) =>
    stringify(asJson(value), { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' }).trimEnd()
  return { document: text, item: (value) => `---\n${text(value)}` }
}

/** One match per line: strings as they are, anything else as JSON. */
function pathFormatter(
  { expression, path }: OutputFormat & { kind: 'jsonpath' },
  isTerminal: boolean,
): Formatter {
  const lineOf = (match: unknown) => {
    if (typeof match !== 'string') return JSON.stringify(match)
    return isTerminal ? plainText(match) : match
  }
  const text = (value: unknown) => {
    const matches = path(asJson(value))
    return matches.length === 0 ? undefined : matches.map(lineOf).join('\n')
  }
  return { document: text, item: text, expression }
}

/** Removes what JSON does not have, such as undefined fields. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? 'null')
}
