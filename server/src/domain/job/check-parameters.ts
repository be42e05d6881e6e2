// Checks the parameters of a job and the placeholders of its document before anything is stored. Errors name the field.

import { ApiError } from '@jobcast/contract'
import {
  checkParameterSchema,
  type DocumentTemplate,
  filesUsed,
  namesUsed,
  ParameterError,
  type ParameterSchema,
  PlaceholderError,
  parseDocument,
  placeholderText,
  secretNames,
  secretVariable,
} from '@jobcast/contract/parameters'
import type { SecretBox } from '../access/ports/secret-box.ts'
import { requireObjects } from '../file/bucket-object.ts'
import type { FileContents } from '../file/ports/contents.ts'

export function checkParameters(
  { secretBox, contents }: { secretBox: SecretBox; contents: Pick<FileContents, 'direct'> },
  document: unknown,
  given: unknown,
): { parameters?: ParameterSchema; hasPlaceholders?: true; secrets?: string[]; files?: string[] } {
  const parameters = given === undefined ? undefined : checkSchema(given)
  const [secret] = secretNames(parameters)
  if (secret !== undefined && !secretBox.isOpen) {
    const field = `parameters.properties.${secret}.writeOnly`
    throw refused(
      field,
      'needs a key to encrypt secrets: set JOBCAST_SECRETS_KEY or JOBCAST_SECRETS_KEY_FILE',
    )
  }
  const { holes, texts } = readDocument(document)
  const declared = parameters?.properties ?? {}
  const unknown = namesUsed({ holes, texts }, 'params').find((name) => !Object.hasOwn(declared, name))
  if (unknown !== undefined) {
    throw refused(
      'document',
      `has the placeholder \${params.${unknown}}, which no parameter of the job declares`,
    )
  }
  const nested = holes.find(({ otherwise }) => otherwise?.includes('${'))
  if (nested) {
    const text = placeholderText(nested)
    throw refused('document', `has a \${ in the default of ${text}: a default must be plain text without }`)
  }
  refuseInCommands(document)
  const secrets = namesUsed({ holes, texts }, 'secrets').sort()
  refuseSameVariables(secrets)
  requireObjects(contents.direct, namesUsed({ holes, texts }, 'object'))
  const files = orRefused(() => filesUsed(document, { holes, texts }))
  // Documents with the escape $${ or with files, whose URLs are added, also need replacement.
  const hasPlaceholders = files.length > 0 || JSON.stringify(document).includes('${')
  return {
    ...(parameters && { parameters }),
    ...(hasPlaceholders && { hasPlaceholders }),
    ...(secrets.length > 0 && { secrets }),
    ...(files.length > 0 && { files }),
  }
}

function refuseSameVariables(names: readonly string[]): void {
  const variables = new Map<string, string>()
  for (const name of names) {
    const variable = secretVariable(name)
    const other = variables.get(variable)
    if (other !== undefined) {
      throw refused(
        'document',
        `uses the secrets ${other} and ${name}, which have one environment variable: ${variable}`,
      )
    }
    variables.set(variable, name)
  }
}

/** Agents may run a command in a shell, so values must not become part of it. */
function refuseInCommands(document: unknown): void {
  const { command, steps, finalStep } = fieldsOf(document)
  const actions = [...(Array.isArray(steps) ? steps : []), finalStep].map((step) =>
    fieldsOf(fieldsOf(step).action),
  )
  const ofSteps = actions
    .filter(({ type }) => type === 'runCommand')
    .map(({ input }) => fieldsOf(input).command)
  for (const [field, value] of [
    ['document.command', command],
    ...ofSteps.map((each) => ['document.steps', each]),
  ]) {
    if (readDocument(value ?? null).holes.length === 0) continue
    const instead =
      'read parameters and secrets from the environment instead, such as JOBCAST_PARAM_X or JOBCAST_SECRET_X'
    throw refused(String(field), `has a placeholder in a command: ${instead}`)
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function checkSchema(given: unknown): ParameterSchema {
  try {
    return checkParameterSchema(given)
  } catch (error) {
    if (error instanceof ParameterError) throw refused(error.field, error.message)
    throw error
  }
}

function readDocument(document: unknown): DocumentTemplate {
  return orRefused(() => parseDocument(document))
}

function orRefused<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof PlaceholderError) throw refused('document', `cannot be resolved: ${error.message}`)
    throw error
  }
}

function refused(field: string, message: string): ApiError {
  return new ApiError('J-500', { field, detail: `${field} ${message}.` })
}
