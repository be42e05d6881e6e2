// The description of the tables, from which rows have their types, says what the schemas of both stores say.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { postgresSchemaFile, sqliteSchemaFile } from '../../generate/generate.ts'
import type { ColumnKind, Dialect, Table } from '../../src/store/schema/column.ts'
import { lastId, node, partition, tables } from '../../src/store/schema/tables.ts'

type Shape = { columns: Record<string, { type: string; isNullable: boolean }>; key: string[] }

const types: Record<Dialect, Record<ColumnKind, RegExp>> = {
  sqlite: {
    number: /^INTEGER$/,
    flag: /^INTEGER$/,
    text: /^TEXT$/,
    json: /^TEXT$/,
    state: /^TEXT$/,
    bytes: /^BLOB$/,
  },
  postgres: {
    number: /^(integer|bigint)$/,
    flag: /^boolean$/,
    text: /^text$/,
    json: /^text$/,
    state: /^exec_state$/,
    bytes: /^bytea$/,
  },
}

function shapesOnSqlite(): Map<string, Shape> {
  const db = new DatabaseSync(':memory:')
  db.exec(readFileSync(sqliteSchemaFile, 'utf8'))
  const rows = db
    .prepare(
      `SELECT m.name AS "table", c.name, c.type, c."notnull" AS "notNull", c.pk
       FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
       WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.pk`,
    )
    .all()
  db.close()
  const shapes = new Map<string, Shape>()
  for (const { table, name, type, notNull, pk } of rows) {
    const shape = shapes.get(String(table)) ?? { columns: {}, key: [] }
    shapes.set(String(table), shape)
    shape.columns[String(name)] = { type: String(type), isNullable: notNull === 0 && pk === 0 }
    if (pk !== 0) shape.key.push(String(name))
  }
  return shapes
}

/** Its dump has a column on each line. */
function shapesOnPostgres(): Map<string, Shape> {
  const shapes = new Map<string, Shape>()
  const dump = readFileSync(postgresSchemaFile, 'utf8')
  for (const [, table = '', body = ''] of dump.matchAll(/^CREATE TABLE (\w+) \(\n([^;]*?)\n\)/gm)) {
    const lines = body.split('\n').map((line) => line.trim().replace(/,$/, ''))
    const columns = lines.filter((line) => /^[a-z]/.test(line))
    const key = lines.find((line) => line.startsWith('PRIMARY KEY'))
    shapes.set(table, {
      columns: Object.fromEntries(
        columns.map((line) => {
          const [name = '', type = ''] = line.split(' ')
          return [name, { type, isNullable: !line.endsWith('NOT NULL') }]
        }),
      ),
      key: key?.match(/\((.*)\)/)?.[1]?.split(', ') ?? [],
    })
  }
  return shapes
}

function assertDescribes(table: Table, shape: Shape | undefined, dialect: Dialect): void {
  assert.ok(shape, `${table.name} is not in the schema`)
  const described = Object.entries(table.columns).filter(([, { only = dialect }]) => only === dialect)
  assert.deepEqual(described.map(([name]) => name).sort(), Object.keys(shape.columns).sort(), table.name)
  for (const [name, { kind, isNullable }] of described) {
    const column: Shape['columns'][string] | undefined = shape.columns[name]
    assert.match(column?.type ?? '', types[dialect][kind], `${table.name}.${name}`)
    assert.equal(isNullable, column?.isNullable, `${table.name}.${name} may be NULL`)
  }
  assert.deepEqual(table.key, shape.key, `the key of ${table.name}`)
}

test('the description of the tables says what the schema of SQLite says', () => {
  const shapes = shapesOnSqlite()
  for (const table of tables) assertDescribes(table, shapes.get(table.name), 'sqlite')
  assert.deepEqual([...shapes.keys()].sort(), tables.map(({ name }) => name).sort())
})

test('the description of the tables says what the schema of PostgreSQL says', () => {
  const shapes = shapesOnPostgres()
  // Of sequences, by a view.
  const described = [...tables.filter((table) => table !== lastId), partition, node]
  for (const table of described) assertDescribes(table, shapes.get(table.name), 'postgres')
  // One row each, or none that the store reads.
  const others = ['catalogue_version', 'commit_marker', 'schema_migration', 'write_probe']
  assert.deepEqual([...shapes.keys()].sort(), [...described.map(({ name }) => name), ...others].sort())
})
