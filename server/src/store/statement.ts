// Statements know the names of their parameters, for the compiler: what is written is typed like what is read. A value that
// a statement needs and does not get, or gets and does not use, does not compile. A value that is missing while the service
// runs throws.

import type { AnyFields, Dialect, StoredOf } from './schema/column.ts'

type Lower =
  | ('a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm')
  | ('n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z')
type Letter = Lower | Uppercase<Lower>
type NameLetter = Letter | '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '_'

/** The name with which a text begins. */
type NameAt<Text, Name extends string = ''> = Text extends `${infer First}${infer Rest}`
  ? First extends NameLetter
    ? NameAt<Rest, `${Name}${First}`>
    : Name
  : Name

/** The names behind colons, but not those of casts (`::`). */
type NamesIn<Text extends string, Found = never> = Text extends `${string}:${infer Rest}`
  ? Rest extends `:${infer Behind}`
    ? NamesIn<Behind, Found>
    : Rest extends `${Letter}${string}`
      ? NamesIn<Rest, Found | NameAt<Rest>>
      : NamesIn<Rest, Found>
  : Found

/** What can be a parameter. A list or an object is one, see `isIn` and `records`. */
type Value = string | number | bigint | boolean | null | object
export type Values = Readonly<Record<string, unknown>>

/** `isOnce`: it is not kept prepared. */
export type Both<Text extends string = string> = Readonly<Record<Dialect, Text>> & { readonly isOnce?: true }
/** A statement, or one for each dialect; an empty one has nothing to do there. */
export type Sql = string | Both
/** A statement made from the description of a table: each of its rows has these values. */
export type RowSql<Row> = Both & { readonly row?: Row }

/** The values of fields as they are written. */
export type Written<Of extends AnyFields> = { readonly [Name in keyof Of]: StoredOf<Of[Name]> }

type OfNames<Names extends string> = [Names] extends [never]
  ? { readonly [Name in string]: never }
  : { readonly [Name in Names]: Value }
type OfText<Text extends string> = string extends Text ? Values : OfNames<Exclude<NamesIn<Text>, 'rows'>>

/** The values that a statement needs; of one that was put together, any. */
export type Given<Of extends Sql> = [Of] extends [string]
  ? OfText<Of>
  : [Of] extends [RowSql<infer Row>]
    ? unknown extends Row
      ? OfBoth<Of>
      : Row
    : Values
type OfBoth<Of> = [Of] extends [Both<infer Text>] ? OfText<Text> : Values

/** No more than these. */
export type Exactly<Needed, Has> = Has & { readonly [Name in Exclude<keyof Has, keyof Needed>]: never }

/** What follows a statement: nothing if it has no parameters. */
export type ValuesFor<Of extends Sql, Has> = string extends keyof Given<Of>
  ? [values?: Given<Of>]
  : [values: Exactly<Given<Of>, Has>]

const pattern = /(?<!:):([a-zA-Z]\w*)/g

/** `place` gives what stands in the statement for a parameter of this name. */
export function placeParameters(sql: string, place: (name: string) => string): string {
  return sql.replace(pattern, (_, name: string) => place(name))
}

/** The names of a statement's parameters, each once. */
export function namesOf(text: string): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name]) => name ?? ''))]
}

/** For the compiler: an object of a port has more than the statement names, and only what it names is bound. */
export function partOf<S extends Sql>(_sql: S, values: Given<S>): Given<S> {
  return values
}

/** Of a row the values of these fields. */
export function pickValues<Row extends object, Name extends keyof Row & string>(
  fields: Readonly<Record<Name, unknown>>,
  row: Row,
): Pick<Row, Name> {
  const names = Object.keys(fields) as Name[]
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>
}

/** What a statement does not name is not bound: an object that came through a port may have more than its type says. */
export function checkValues(names: readonly string[], values: Values): void {
  for (const name of names) {
    if (values[name] === undefined) throw new Error(`a statement has no value for :${name}`)
  }
}
