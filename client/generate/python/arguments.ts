// The arguments of a method: path, body, query and headers of its operation.

import { type Code, quoted, snakeCase } from './layout.ts'
import type { PythonTypes, Schema } from './types.ts'

type Parameter = { name: string; in: string; schema: Schema; description?: string }
export type Operation = {
  operationId: string
  method: string
  path: string
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content?: Record<string, { schema: Schema }> }
  responses: Record<string, { description?: string; content?: Record<string, { schema: Schema }> }>
  tags?: string[]
}

export type Argument = {
  name: string
  type: string
  description: string | undefined
  /** The default of an optional argument. */
  initial?: string
}

type Body = { required: Argument[]; optional: Argument[]; code: Code | undefined }

export const capitalized = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

export function parametersIn(operation: Operation, where: string): Parameter[] {
  return (operation.parameters ?? []).filter((parameter) => parameter.in === where)
}

export function pathArguments(operation: Operation, types: PythonTypes): Argument[] {
  // In the order of the path, which may differ from that of the list.
  const named = new Map(parametersIn(operation, 'path').map((parameter) => [parameter.name, parameter]))
  return [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const parameter = named.get(name)
    if (parameter === undefined) throw new Error(`${operation.operationId} does not describe ${name}`)
    return argumentOf(parameter, types.typeOf(parameter.schema, capitalized(name)))
  })
}

export function queryArguments(operation: Operation, types: PythonTypes): Argument[] {
  return parametersIn(operation, 'query').map((parameter) => {
    const { items } = parameter.schema
    const one = types.typeOf(items ?? parameter.schema, capitalized(parameter.name))
    const isList = items !== undefined || parameter.description?.includes('separated by commas')
    const type = isList ? `Union[None, ${one}, Iterable[${one}]]` : `Optional[${one}]`
    return { ...argumentOf(parameter, type), initial: 'None' }
  })
}

export function headerArguments(operation: Operation): Argument[] {
  return parametersIn(operation, 'header').map((parameter) => ({
    ...argumentOf(parameter, 'Optional[str]'),
    initial: 'None',
  }))
}

function argumentOf({ name, description }: Parameter, type: string): Argument {
  return { name: snakeCase(name), type, description }
}

export function fieldsBody(
  operation: Operation,
  schema: Schema,
  types: PythonTypes,
  leftOut: readonly string[] = [],
): Body {
  const { properties = {}, required = [] } = types.resolve(schema)
  const fields = Object.entries(properties)
    .filter(([key]) => !leftOut.includes(key))
    .map(([key, field]) => {
      const hint = `${capitalized(operation.operationId)}${capitalized(key)}`
      const argument = {
        name: snakeCase(key),
        type: types.typeOf(field, hint),
        description: field.description,
      }
      return { key, argument, fixed: fixedValue(field), isRequired: required.includes(key) }
    })
  const free = fields.filter(({ fixed, isRequired }) => fixed === undefined || !isRequired)
  const isNullable = ({ argument: { type } }: (typeof fields)[number]) => /^(?:Optional\[|Any$)/.test(type)
  const entry = ({ key, argument, fixed, isRequired }: (typeof fields)[number]) =>
    `${quoted(key)}: ${isRequired && fixed !== undefined ? fixed : argument.name}`
  const dict = (of: typeof fields): Code => ({ open: '{', parts: of.map(entry), close: '}' })
  const plain = fields.filter((field) => field.isRequired || !isNullable(field))
  const nullable = fields.filter((field) => !field.isRequired && isNullable(field))
  const parts = nullable.length > 0 ? [dict(plain), dict(nullable)] : [dict(plain)]
  return {
    required: free.filter(({ isRequired }) => isRequired).map(({ argument }) => argument),
    optional: free
      .filter(({ isRequired }) => !isRequired)
      .map((field) => ({ ...field.argument, ...(isNullable(field) ? orOmitted : orNone)(field.argument) })),
    code: { open: '_given(', parts, close: ')' },
  }
}

function orNone({ type }: Argument): { type: string; initial: string } {
  return { type: `Optional[${type}]`, initial: 'None' }
}

function orOmitted({ type }: Argument): { type: string; initial: string } {
  return { type, initial: 'OMIT' }
}

/** The value of a field that has only one possible value. */
function fixedValue(schema: Schema): string | undefined {
  return schema.enum?.length === 1 ? JSON.stringify(schema.enum[0]) : undefined
}
