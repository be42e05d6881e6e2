// Python types of requests and responses: a TypedDict for each schema that a method uses.

import { commentLines, docstring, keywords, quoted } from './layout.ts'

export type Schema = {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  patternProperties?: Record<string, Schema>
  description?: string
}

const scalars: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
}

export class PythonTypes {
  readonly #schemas: Record<string, Schema>
  /** Names by type text, so that equal types are defined once. */
  readonly #aliases = new Map<string, string>()
  readonly #named = new Map<string, string>()
  readonly #texts = new Map<string, string>()

  /** `aliases`: names of lists of values; `written`: classes that the template has. */
  constructor(
    schemas: Record<string, Schema>,
    aliases: Readonly<Record<string, readonly string[]>>,
    written: readonly string[],
  ) {
    this.#schemas = schemas
    for (const name of written) this.#named.set(name, name)
    for (const [name, values] of Object.entries(aliases)) this.#alias('Literal', values.map(literal), name)
  }

  /** All that were used, by name. */
  get text(): string {
    const sorted = [...this.#texts].sort(([a], [b]) => (a < b ? -1 : 1))
    return sorted.map(([, text]) => text).join('\n\n')
  }

  resolve(schema: Schema): Schema {
    const name = nameOf(schema)
    return name === undefined ? schema : this.#find(name)
  }

  /** `hint` names an object that has no name of its own. */
  typeOf(schema: Schema, hint: string): string {
    const name = nameOf(schema)
    if (name !== undefined) return this.#use(name)
    if ('const' in schema) return `Literal[${literal(schema.const)}]`
    if (schema.enum) return this.#literals(schema.enum.map(literal), hint)
    if (schema.anyOf) return this.#unionOf(schema.anyOf, hint)
    if (schema.type === 'array')
      return `List[${schema.items ? this.typeOf(schema.items, singular(hint)) : 'Any'}]`
    if (schema.type === 'object') return this.#objectType(schema, hint)
    return scalars[schema.type ?? ''] ?? 'Any'
  }

  #literals(values: string[], hint: string): string {
    if (values.length < 5) return `Literal[${values.join(', ')}]`
    return this.#alias('Literal', values, hint)
  }

  #alias(kind: string, parts: string[], hint: string): string {
    const key = `${kind} ${[...parts].sort().join()}`
    const name = this.#aliases.get(key) ?? hint
    this.#aliases.set(key, name)
    this.#add(name, `${name} = ${kind}[\n${parts.map((part) => `    ${part},\n`).join('')}]\n`)
    return name
  }

  #add(name: string, text: string): void {
    const before = this.#texts.get(name)
    if (before !== undefined && before !== text) throw new Error(`two types would be called ${name}`)
    this.#texts.set(name, text)
  }

  #find(name: string): Schema {
    const schema = this.#schemas[name]
    if (schema === undefined) throw new Error(`the document has no schema ${name}`)
    return schema
  }

  #use(name: string): string {
    const used = this.#named.get(name)
    if (used !== undefined) return used
    const schema = this.#find(name)
    // Set before its fields are read, because types may be recursive.
    this.#named.set(name, schema.properties ? name : '')
    const type = schema.properties ? this.#objectType(schema, name) : this.typeOf(schema, name)
    this.#named.set(name, type)
    return type
  }

  #unionOf(schemas: Schema[], hint: string): string {
    const isNull = (schema: Schema) => schema.type === 'null'
    const others = schemas.filter((schema) => !isNull(schema))
    const objects = others.filter((schema) => schema.properties)
    const types = others.map((schema) => {
      const number = objects.indexOf(schema)
      return this.typeOf(schema, number > 0 ? `${hint}${number + 1}` : hint)
    })
    const one = this.#oneOf([...new Set(types)], hint)
    if (others.length === schemas.length || one === 'Any') return one
    return `Optional[${one}]`
  }

  #oneOf(types: string[], hint: string): string {
    if (types.length === 1) return types[0] ?? 'Any'
    return types.length < 5 ? `Union[${types.join(', ')}]` : this.#alias('Union', types.map(quoted), hint)
  }

  #objectType(schema: Schema, name: string): string {
    const { properties, patternProperties, additionalProperties } = schema
    if (properties && Object.keys(properties).length > 0) {
      const key = JSON.stringify(schema)
      const known = this.#aliases.get(key)
      if (known !== undefined) return known
      this.#aliases.set(key, name)
      this.#add(name, this.#typedDict(schema, name))
      return name
    }
    const value = Object.values(patternProperties ?? {})[0] ?? additionalProperties
    return `Dict[str, ${typeof value === 'object' ? this.typeOf(value, `${name}Value`) : 'Any'}]`
  }

  #typedDict({ properties = {}, required = [], description }: Schema, name: string): string {
    const fields = Object.entries(properties).map(([key, schema]) => {
      const type = this.typeOf(schema, `${name}${key.charAt(0).toUpperCase()}${key.slice(1)}`)
      return { key, type, description: schema.description, isRequired: required.includes(key) }
    })
    const doc = description ? docstring([sentence(description)], 4) : ''
    const isName = ({ key }: Field) => !keywords.has(key)
    // A class is total or not, and has no field with the name of a keyword: each of these groups is one.
    const groups = [
      { suffix: 'Words', fields: fields.filter((field) => !isName(field) && field.isRequired) },
      { suffix: 'OptionalWords', fields: fields.filter((field) => !isName(field) && !field.isRequired) },
      { suffix: 'Always', fields: fields.filter((field) => isName(field) && field.isRequired) },
      { suffix: '', fields: fields.filter((field) => isName(field) && !field.isRequired) },
    ].filter(({ fields }) => fields.length > 0)
    const last = groups.pop()
    const bases = groups.map(({ suffix, fields }) => ({ name: `_${name}${suffix}`, fields }))
    const texts = bases.map((base) => dictText(base.name, ['TypedDict'], '', base.fields))
    const parents = bases.length > 0 ? bases.map((base) => base.name) : ['TypedDict']
    return [...texts, dictText(name, parents, doc, last?.fields ?? [])].join('\n\n')
  }
}

type Field = { key: string; type: string; description: string | undefined; isRequired: boolean }

function dictText(name: string, parents: string[], doc: string, fields: Field[]): string {
  const total = fields.every(({ isRequired }) => isRequired) ? [] : ['total=False']
  if (fields.some(({ key }) => keywords.has(key))) {
    // The other way to write it, in which types are strings.
    const lines = fields.map(
      ({ key, type, description }) => `${note(description, 4)}    ${quoted(key)}: ${quoted(type)},\n`,
    )
    return `${name} = TypedDict(${quoted(name)}, {\n${lines.join('')}}${total.map((each) => `, ${each}`).join('')})\n`
  }
  const lines = fields.map(({ key, type, description }) => `${note(description, 4)}    ${key}: ${type}\n`)
  return `class ${name}(${[...parents, ...total].join(', ')}):\n${doc}${doc && '\n'}${lines.join('')}`
}

function singular(name: string): string {
  return name.replace(/([^s])s$/, '$1')
}

function note(description: string | undefined, indent: number): string {
  return description ? commentLines(description, indent) : ''
}

export function sentence(text: string): string {
  return /[.:]$/.test(text) ? text : `${text}.`
}

function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.replace('#/components/schemas/', '')
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? 'None' : JSON.stringify(value)
}
