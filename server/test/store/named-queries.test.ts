// The port by which plain tables are asked: the same statements and values mean the same on both databases.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import pg from 'pg'
import { connectionOptions } from '../../src/store/postgres/connect.ts'
import { buildNamedQueries } from '../../src/store/postgres/named-queries.ts'
import { inBoth, insertInto, type Queries, type Sql } from '../../src/store/queries.ts'
import {
  bytes,
  flag,
  json,
  number,
  orNull,
  rows,
  select,
  table,
  text,
} from '../../src/store/schema/column.ts'
import { openNamedQueries } from '../../src/store/sqlite/named-queries.ts'
import type { Given } from '../../src/store/statement.ts'

const sample = table('sample', ['sampleNo'], {
  sampleNo: number(),
  title: text('sample_title'),
  isOpen: flag(),
  tags: json<string[]>(),
  hash: orNull(bytes()),
  largeId: orNull(number()),
})
const SAMPLE = select(sample.fields)
const ALL = `SELECT ${SAMPLE} FROM sample ORDER BY sample_no`
const INSERT = `
  INSERT INTO sample (sample_no, sample_title, is_open, tags, hash, large_id)
  VALUES (:sampleNo, :title, :isOpen, :tags, :hash, :largeId)`
const first = {
  sampleNo: 1,
  title: 'a :title with a colon',
  isOpen: true,
  tags: ['x'],
  hash: Uint8Array.of(0, 255),
  largeId: Number.MAX_SAFE_INTEGER,
}

const server = await sharedPostgres()

const open: Record<string, (t: TestContext) => Promise<Queries>> = {
  async SQLite(t) {
    const db = new DatabaseSync(':memory:')
    t.after(() => db.close())
    db.exec(`CREATE TABLE sample (sample_no INTEGER PRIMARY KEY, sample_title TEXT NOT NULL, is_open INTEGER NOT NULL,
      tags TEXT NOT NULL, hash BLOB, large_id INTEGER) STRICT`)
    return openNamedQueries(db)
  },
  async PostgreSQL(t) {
    const client = new pg.Client({ ...connectionOptions(await createDatabase(server)), pipeline: false })
    await client.connect()
    t.after(() => client.end())
    await client.query(`CREATE TABLE sample (sample_no integer PRIMARY KEY, sample_title text NOT NULL,
      is_open boolean NOT NULL, tags text NOT NULL, hash bytea, large_id bigint)`)
    return buildNamedQueries((sql, values) => client.query(sql, [...values]))
  },
}

for (const [name, openQueries] of Object.entries(open)) {
  test(`${name}: a row reads as it was written, whatever its columns hold`, async (t) => {
    const queries = await openQueries(t)
    assert.equal(await queries.run(INSERT, { ...first, tags: JSON.stringify(first.tags) }), 1)
    const second = { sampleNo: 2, title: '', isOpen: false, tags: '[]', hash: null, largeId: null }
    await queries.run(INSERT, second)
    const found = await queries.all(SAMPLE, ALL)
    assert.deepEqual(
      found.map((row) => ({ ...row })),
      [first, { ...second, tags: [] }],
    )
    assert.equal(
      await queries.get(SAMPLE, `SELECT ${SAMPLE} FROM sample WHERE sample_no = :no`, { no: 3 }),
      undefined,
    )
  })

  test(`${name}: a list is one parameter, of values or of records, and may be empty`, async (t) => {
    const queries = await openQueries(t)
    const { sampleNo, title } = sample.fields
    const PUT = inBoth(
      ({ records }) => `
      INSERT INTO sample (sample_no, sample_title, is_open, tags)
      SELECT "sampleNo", title, true, '[]' FROM ${records('puts', { sampleNo, title })} WHERE true
      ON CONFLICT (sample_no) DO UPDATE SET sample_title = excluded.sample_title`,
    )
    const put = (puts: { sampleNo: number; title: string }[]) => queries.run(PUT, { puts })
    assert.equal(await put([1, 2, 3].map((sampleNo) => ({ sampleNo, title: `"${sampleNo}"\n{}` }))), 3)
    assert.equal(await put([{ sampleNo: 2, title: 'b' }]), 1)
    assert.equal(await put([]), 0)
    const byNo = inBoth(
      ({ isIn }) => `SELECT count(*) AS count FROM sample WHERE ${isIn('sample_no', 'nos', 'integer')}`,
    )
    const byTitle = inBoth(
      ({ isIn }) => `SELECT count(*) AS count FROM sample WHERE ${isIn('sample_title', 'titles', 'text')}`,
    )
    const counted = rows({ count: number() })
    assert.equal((await queries.one(counted, byNo, { nos: [1, 2, 9] })).count, 2)
    assert.equal((await queries.one(counted, byNo, { nos: [] })).count, 0)
    assert.equal((await queries.one(counted, byTitle, { titles: ['b', '"3"\n{}', 'none'] })).count, 2)
    assert.equal((await queries.one(counted, byTitle, { titles: [] })).count, 0)
  })

  test(`${name}: records keep their fields, also where a field is NULL in each of them`, async (t) => {
    const queries = await openQueries(t)
    const { largeId, sampleNo, title } = sample.fields
    const GIVEN = rows({ largeId, sampleNo, title: orNull(title) })
    const READ = inBoth(
      ({ records }) => `
      SELECT "largeId", CAST("sampleNo" AS integer) AS "sampleNo", title
      FROM ${records('given', { largeId, sampleNo, title })} ORDER BY "sampleNo"`,
    )
    const read = async (given: object[]) =>
      (await queries.all(GIVEN, READ, { given })).map((row) => ({ ...row }))
    const none = [1, 2].map((no) => ({ largeId: null, sampleNo: no, title: null }))
    assert.deepEqual(await read(none), none)
    const some = none.map((row) => ({ ...row, title: row.sampleNo === 1 ? null : 'b' }))
    assert.deepEqual(await read(some), some)
    const empty = none.map((row) => ({ ...row, sampleNo: null }))
    assert.deepEqual(await read(empty), empty)
  })

  test(`${name}: a statement that has nothing to do there is not sent, and a row that must be there is missed`, async (t) => {
    const queries = await openQueries(t)
    assert.equal(await queries.run({ sqlite: '', postgres: '' }), 0)
    await assert.rejects(queries.one(SAMPLE, ALL), /a required row is missing/)
    await assert.rejects(queries.run('DELETE FROM nothing'), /nothing/)
  })
}

for (const [name, openQueries] of Object.entries(open)) {
  test(`${name}: a name without a value throws; a value without a name does not compile`, async (t) => {
    const queries = await openQueries(t)
    const { title, ...withoutTitle } = { ...first, tags: '[]' }
    // As a statement that was put together: the compiler does not know its names.
    const sql: string = INSERT
    await assert.rejects(queries.run(sql, withoutTitle), /no value for :title/)
    await assert.rejects(queries.run(sql, { ...withoutTitle, title: undefined }), /no value for :title/)
    // @ts-expect-error The title is missing.
    await assert.rejects(queries.run(INSERT, withoutTitle), /no value for :title/)
    const more = { ...withoutTitle, title, isOther: 1 }
    // @ts-expect-error The statement has no such parameter.
    await queries.run(INSERT, more)
    assert.equal((await queries.all(SAMPLE, ALL)).length, 1)
  })
}

test('rows for a table have each of its columns, and nothing else', () => {
  const insert = insertInto(sample.fields)
  const take = <S extends Sql>(_sql: S, _row: Given<S>) => undefined
  const { hash, ...withoutHash } = first
  take(insert, { ...withoutHash, hash })
  // @ts-expect-error The hash is missing.
  take(insert, withoutHash)
  // @ts-expect-error A title is a text.
  take(insert, { ...first, title: 1 })
  assert.match(insert.sqlite, /:sampleNo, :title, :isOpen, :tags, :hash, :largeId/)
})
