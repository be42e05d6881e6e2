// The types of statements include the names of their parameters, so that writes are typed like reads. A missing or an unused
// value is a compile-time error. A value that is missing at runtime throws.

import type { AnyFields, Dialect, StoredOf } from './schema/column.ts'

type Lower =
  | ('a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm')
  | ('n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z')
type Letter = Lower | Uppercase<Lower>
type NameLetter = Letter | '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '_'

/** The name at the beginning of a text. */
type NameAt<Text, Name extends string = ''> = Text extends `${infer First}${infer Rest}`
  ? First extends NameLetter
    ? NameAt<Rest, `${Name}${First}`>
    : Name
  : Name

/** The names after colons, except those of casts (`::`). */
type NamesIn<Text extends string, Found = never> = Text extends `${string}:${infer Rest}`
  ? Rest extends `:${infer Behind}`
    ? NamesIn<Behind, Found>
    : Rest extends `${Letter}${string}`
      ? NamesIn<Rest, Found | NameAt<Rest>>
      : NamesIn<Rest, Found>
  : Found

/** The value of a parameter, including lists and objects, see `isIn` and `records`. */
type Value = string | number | bigint | boolean | null | object
export type Values = Readonly<Record<string, unknown>>

/** `isOnce`: the prepared statement is not cached. */
export type Both<Text extends string = string> = Readonly<Record<Dialect, Text>> & { readonly isOnce?: true }
/** A statement, or one for each dialect; an empty one does nothing. */
export type Sql = string | Both
/** A statement derived from the description of a table, whose rows have these values. */
export type RowSql<Row> = Both & { readonly row?: Row }

/** The values of fields when written. */
export type Written<Of extends AnyFields> = { readonly [Name in keyof Of]: StoredOf<Of[Name]> }

type OfNames<Names extends string> = [Names] extends [never]
  ? { readonly [Name in string]: never }
  : { readonly [Name in Names]: Value }
type OfText<Text extends string> = string extends Text ? Values : OfNames<Exclude<NamesIn<Text>, 'rows'>>

/** The values that a statement needs; any values for a statement built at runtime. */
export type Given<Of extends Sql> = [Of] extends [string]
  ? OfText<Of>
  : [Of] extends [RowSql<infer Row>]
    ? unknown extends Row
      ? OfBoth<Of>
      : Row
    : Values
type OfBoth<Of> = [Of] extends [Both<infer Text>] ? OfText<Text> : Values

/** Forbids additional values. */
export type Exactly<Needed, Has> = Has & { readonly [Name in Exclude<keyof Has, keyof Needed>]: never }

/** The arguments after a statement: none if it has no parameters. */
export type ValuesFor<Of extends Sql, Has> = string extends keyof Given<Of>
  ? [values?: Given<Of>]
  : [values: Exactly<Given<Of>, Has>]

// On PostgreSQL a parameter may be a field of the rows of a list: `:rows.deviceNo`.
const pattern = /(?<!:):([a-zA-Z]\w*)(?:\.(\w+))?/g

/** `place` returns the replacement for a parameter. */
export function placeParameters(
  sql: string,
  place: (name: string, field: string | undefined) => string,
): string {
  return sql.replace(pattern, (_, name: string, field?: string) => place(name, field))
}

/** The names of a statement's parameters, without duplicates. */
export function namesOf(text: string): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name]) => name ?? ''))]
}

/** Only changes the type: an object of a port has more fields than the statement needs, and only these are bound. */
export function partOf<S extends Sql>(_sql: S, values: Given<S>): Given<S> {
  return values
}

/** Picks the values of these fields from a row. */
export function pickValues<Row extends object, Name extends keyof Row & string>(
  fields: Readonly<Record<Name, unknown>>,
  row: Row,
): Pick<Row, Name> {
  const names = Object.keys(fields) as Name[]
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>
}

/** Ignores additional values: an object from a port may have more fields than its type. */
export function checkValues(names: readonly string[], values: Values): void {
  for (const name of names) {
    if (values[name] === undefined) throw new Error(`a statement has no value for :${name}`)
  }
}
