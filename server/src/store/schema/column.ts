// The parts of the table descriptions (tables.ts): columns, tables, and selections of columns, which define the fields of a
// row.

import type { ExecState } from '@jobcast/contract'
import type { SteadyInstant } from '../../domain/common/instants.ts'

export type Dialect = 'sqlite' | 'postgres'

/**
 * `flag` is 0 or 1 on SQLite, `state` the state of an execution, `json` a text that is parsed when it is read.
 */
export type ColumnKind = 'number' | 'text' | 'bytes' | 'flag' | 'state' | 'json'

/** `Value`: the type of its values when read; `Stored`: the type when written. */
export type Column<Value = unknown, Stored = Value> = {
  readonly kind: ColumnKind
  readonly isNullable: boolean
  /** Undefined: the field's name in snake_case. */
  readonly name: string | undefined
  /** Set for columns that only one store has. */
  readonly only: Dialect | undefined
  /** Never set; only for the type. */
  readonly value?: Value
  readonly stored?: Stored
}

const column = <Value, Stored = Value>(
  kind: ColumnKind,
  name: string | undefined,
): Column<Value, Stored> => ({
  kind,
  name,
  isNullable: false,
  only: undefined,
})

export const number = (name?: string) => column<number>('number', name)
export const steady = (name?: string) => column<SteadyInstant>('number', name)
export const text = <Value extends string = string>(name?: string) => column<Value>('text', name)
export const bytes = (name?: string) => column<Uint8Array>('bytes', name)
export const flag = (name?: string) => column<boolean>('flag', name)
export const state = (name?: string) => column<ExecState>('state', name)
export const json = <Value>(name?: string) => column<Value, string | Extract<Value, object>>('json', name)

export function onlyOn<Value, Stored>(only: Dialect, of: Column<Value, Stored>): Column<Value, Stored> {
  return { ...of, only }
}

/** A column with its SQL expression. */
export type Field<Value = unknown, Stored = Value> = Column<Value, Stored> & { readonly sql: string }
export type AnyFields = Readonly<Record<string, Field>>

export function orNull<Value, Stored>(of: Field<Value, Stored>): Field<Value | null, Stored | null>
export function orNull<Value, Stored>(of: Column<Value, Stored>): Column<Value | null, Stored | null>
export function orNull(of: Column): Column {
  return { ...of, isNullable: true }
}

/** For statements that exclude null. */
export function notNull<Value>(of: Field<Value | null>): Field<Value> {
  return of as Field<Value>
}

type Columns = Readonly<Record<string, Column>>
type Fields<Of extends Columns> = {
  readonly [Name in keyof Of]: Of[Name] extends Column<infer Value, infer Stored>
    ? Field<Value, Stored>
    : never
}
type ValuesOf<Of extends Columns> = {
  [Name in keyof Of]: Of[Name] extends Column<infer Value, unknown> ? Value : never
}
export type StoredOf<Of extends Column> = Of extends Column<unknown, infer Stored> ? Stored : never

export type Table<Of extends Columns = Columns> = {
  readonly name: string
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[]
  readonly fields: Fields<Of>
  pick<Name extends keyof Of>(...names: Name[]): Pick<Fields<Of>, Name>
  /** Columns by their names in the database. */
  readonly columns: Readonly<Record<string, Column>>
}

export function table<Of extends Columns>(
  name: string,
  key: readonly (keyof Of & string)[],
  columns: Of,
): Table<Of> {
  const named = Object.entries(columns).map(
    ([field, of]) => [field, of, of.name ?? snakeCase(field)] as const,
  )
  const nameOf = new Map(named.map(([field, , column]) => [field, column]))
  const fields = Object.fromEntries(
    named.map(([field, of, column]) => [field, { ...of, sql: `${name}.${column}` }]),
  ) as Fields<Of>
  return {
    name,
    key: key.map((field) => nameOf.get(field) ?? field),
    fields,
    pick<Name extends keyof Of>(...names: Name[]) {
      return Object.fromEntries(names.map((each) => [each, fields[each]])) as Pick<Fields<Of>, Name>
    },
    columns: Object.fromEntries(named.map(([, of, column]) => [column, of])),
  }
}

/** A field that is computed by a statement. */
export function computed<Value>(sql: string, of: Column<Value>): Field<Value> {
  return { ...of, sql }
}

export type Row = Record<string, unknown>

/** As a string it is the list of columns; `read` converts a row with these columns. */
export type Selection<Of> = { toString(): string; read(row: Row): Of }

export function select<Of extends AnyFields>(fields: Of): Selection<ValuesOf<Of>> {
  const list = Object.entries(fields).map(([field, { sql }]) => `${sql} AS "${field}"`)
  return { ...rows(fields), toString: () => list.join(', ') }
}

/** The same for a statement with an explicit list, in which each column has the name of its field. */
export function rows<Of extends Columns>(fields: Of): Selection<ValuesOf<Of>> {
  const converted = Object.entries(fields).flatMap(([field, { kind }]) => {
    const convert = converters[kind]
    return convert ? [{ field, convert }] : []
  })
  return {
    // Both databases return numbers, texts and bytes unchanged (postgres/connect.ts converts 64-bit integers to numbers), so
    // most rows are returned without a copy.
    read(row) {
      for (const { field, convert } of converted) {
        const value = row[field]
        if (value !== null) row[field] = convert(value)
      }
      return row as ValuesOf<Of>
    },
  }
}

const converters: Partial<Record<ColumnKind, (value: unknown) => unknown>> = {
  flag: Boolean,
  json: (value) => JSON.parse(String(value)),
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
