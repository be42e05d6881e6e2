// The tables of a database on PostgreSQL as text. Not by pg_dump: the PostgreSQL of the tests comes without it.

import { execute } from '@jobcast/testkit/postgres-server'

const TYPES = `
  SELECT format('CREATE TYPE %I AS ENUM (%s);', typname,
    string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder)) AS text
  FROM pg_type JOIN pg_enum ON enumtypid = pg_type.oid GROUP BY typname ORDER BY typname`
// Partitions are made while the service runs and look like their table.
const TABLES = `
  SELECT relname AS name, pg_get_partkeydef(oid) AS partitioned, reloptions::text AS options FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname`
const COLUMNS = `
  SELECT attrelid::regclass::text AS table, format('%I %s', attname, format_type(atttypid, atttypmod))
    || CASE WHEN collname <> 'default' THEN format(' COLLATE %I', collname) ELSE '' END
    || CASE WHEN attidentity <> '' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END
    || coalesce(' DEFAULT ' || pg_get_expr(adbin, adrelid), '')
    || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END AS text
  FROM pg_attribute
    LEFT JOIN pg_collation ON pg_collation.oid = attcollation
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attnum > 0 AND NOT attisdropped ORDER BY attrelid, attnum`
const CONSTRAINTS = `
  SELECT conrelid::regclass::text AS table, pg_get_constraintdef(oid) AS text FROM pg_constraint
  WHERE conrelid <> 0 AND contype <> 'n' ORDER BY conrelid, contype, conname`
const INDEXES = `
  SELECT indrelid::regclass::text AS table, pg_get_indexdef(indexrelid) AS text FROM pg_index
  WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indrelid, indexrelid::regclass::text`

export async function postgresSchema(url: string): Promise<string> {
  const [types, tables, columns, constraints, indexes] = await Promise.all(
    [TYPES, TABLES, COLUMNS, CONSTRAINTS, INDEXES].map((sql) => execute(url, sql)),
  )
  const of = (rows: typeof columns, name: unknown) =>
    (rows ?? []).filter((row) => row.table === name).map((row) => row.text as string)
  const texts = (tables ?? []).map(({ name, partitioned, options }) => {
    const lines = [...of(columns, name), ...of(constraints, name)].map((line) => `  ${line}`)
    const by = partitioned === null ? '' : ` PARTITION BY ${partitioned}`
    const given = options === null ? '' : ` WITH (${String(options).replace(/[{}]/g, '')})`
    const own = of(indexes, name).map((text) => `${text};\n`)
    return `CREATE TABLE ${name} (\n${lines.join(',\n')}\n)${by}${given};\n${own.join('')}`
  })
  return [...(types ?? []).map((row) => `${row.text}\n`), ...texts].join('\n')
}
