// Checks the schema of a job's parameters and the placeholders of its document. Loaded when they are edited.

import {
  checkParameterSchema,
  namesUsed,
  ParameterError,
  type ParameterSchema,
  PlaceholderError,
  parseDocument,
} from '@jobcast/contract/parameters'

export type SchemaProblems = { parameters?: string; document?: string }

/** Both texts must be JSON; an empty schema text means no schema. */
export function checkSchema(schemaText: string, documentText: string): SchemaProblems {
  const problems: SchemaProblems = {}
  let schema: ParameterSchema | undefined
  try {
    if (schemaText.trim() !== '') schema = checkParameterSchema(JSON.parse(schemaText))
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    problems.parameters = `${error.field} ${error.message}.`
  }
  const used = usedIn(documentText)
  if (typeof used === 'string') problems.document = used
  else if (problems.parameters === undefined) {
    const unknown = used.find((name) => !Object.hasOwn(schema?.properties ?? {}, name))
    if (unknown !== undefined) problems.document = `\${params.${unknown}} is not a parameter of the job.`
  }
  return problems
}

/** The names of used parameters, or an error. */
function usedIn(documentText: string): string[] | string {
  try {
    return namesUsed(parseDocument(JSON.parse(documentText)), 'params')
  } catch (error) {
    if (!(error instanceof PlaceholderError)) throw error
    return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`
  }
}
