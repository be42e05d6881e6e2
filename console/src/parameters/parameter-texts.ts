// Values of parameters as texts in form fields. Empty ones are omitted.

import type { ParameterProperty, ParameterSchema, ScalarType } from '@jobcast/contract/parameters'
import { judgeParameters, namesUsed, PlaceholderError, parseDocument } from '@jobcast/contract/parameters'

export type ParameterTexts = Readonly<Record<string, string>>
type GivenParameters = Record<string, unknown>
type JudgedTexts = { given: GivenParameters; problems: ReadonlyMap<string, string> }

/** `document`: parameters used in it need a value. */
export function judgeTexts(schema: ParameterSchema, document: unknown, texts: ParameterTexts): JudgedTexts {
  const given: GivenParameters = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const text = texts[name] ?? ''
    if (text !== '') given[name] = valueOfText(property, text)
  }
  return { given, problems: problemsOf(schema, document, given) }
}

function problemsOf(
  schema: ParameterSchema,
  document: unknown,
  given: GivenParameters,
): JudgedTexts['problems'] {
  const { problems } = judgeParameters(schema, given, usedIn(document))
  return new Map(problems.map(({ name, message }) => [name, message]))
}

function valueOfText({ type, items }: ParameterProperty, text: string): unknown {
  if (type !== 'array') return scalarOf(type, text)
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => scalarOf((items?.type ?? 'string') as ScalarType, line))
}

/** A text that is not a number remains text, and is refused. */
function scalarOf(type: ScalarType, text: string): unknown {
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? number : text
}

function usedIn(document: unknown): string[] {
  try {
    return namesUsed(parseDocument(document), 'params')
  } catch (error) {
    if (error instanceof PlaceholderError) return []
    throw error
  }
}
