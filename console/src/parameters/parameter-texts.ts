// Values of parameters as they are in the fields of a form: texts. What is empty is left out.

import type { ParameterProperty, ParameterSchema, ScalarType } from '@jobcast/contract/parameters'
import { judgeParameters, namesUsed, PlaceholderError, parseDocument } from '@jobcast/contract/parameters'

export type ParameterTexts = Readonly<Record<string, string>>
type GivenParameters = Record<string, unknown>
type JudgedTexts = { given: GivenParameters; problems: ReadonlyMap<string, string> }

/** `document`: parameters that it uses need a value. */
export function judgeTexts(schema: ParameterSchema, document: unknown, texts: ParameterTexts): JudgedTexts {
  const given: GivenParameters = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const text = texts[name] ?? ''
    if (text !== '') given[name] = valueOfText(property, text)
  }
  const { problems } = judgeParameters(schema, given, usedIn(document))
  return { given, problems: new Map(problems.map(({ name, message }) => [name, message])) }
}

function valueOfText({ type, items }: ParameterProperty, text: string): unknown {
  if (type !== 'array') return scalarOf(type, text)
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => scalarOf((items?.type ?? 'string') as ScalarType, line))
}

/** What is no number stays text, and is refused as such. */
function scalarOf(type: ScalarType, text: string): unknown {
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? number : text
}

/** As it would be typed. */
export function textOfValue(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join('\n') : String(value)
}

function usedIn(document: unknown): string[] {
  try {
    return namesUsed(parseDocument(document), 'params')
  } catch (error) {
    if (error instanceof PlaceholderError) return []
    throw error
  }
}
