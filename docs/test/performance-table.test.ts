// The performance table of the README has exactly the figures of the linked results.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { besideSection } from '../../bench/beside-section.ts'
import type { Cell } from '../../bench/contenders.ts'
import type { CellResult } from '../../bench/measure-cells.ts'
import { linksPattern, performanceTable, tablePattern } from '../../bench/readme-table.ts'
import { formatTable } from '../../bench/table.ts'
import { triggerTable } from '../../bench/trigger-table.ts'
import { readPage } from './pages.ts'

test('the table of the README is that of its results; "npm run bench:readme -- DATE" writes it', () => {
  const readme = readPage('README.md')
  const [, embedded = '', postgres = ''] = linksPattern.exec(readme) ?? []
  const [table] = tablePattern.exec(readme) ?? []
  assert.equal(table, performanceTable(readPage(embedded), readPage(postgres)))
})

/** Each contender with a rate, in calls a second; the figures are invented. */
function invented(cell: Cell, rates: Record<string, number>): CellResult {
  return {
    cell,
    of: (name) => ({ callsPerSecond: rates[name] ?? Number.NaN, p50: 0.5, p99: 1, spread: 0.1 }),
  }
}

const one: Cell = { devices: 1, callers: 64 }
const keyed: Cell = { ...one, hasKeys: true }
const keyedAlone: Cell = { ...keyed, callers: 1 }
const heading = (table: string) => `## 0 executions stored before\n\n${table}`

test('callers with keys stand first, then those over TLS, then plain ones', () => {
  const rates = { Jobcast: 80, 'nothing stored': 100, sketch: 160 }
  const columns = {
    jobcast: 'Jobcast',
    limits: ['nothing stored', 'sketch'].map((name) => ({ name, contender: name })),
  }
  const cells = [one, keyedAlone, keyed].map((cell) => invented(cell, rates))
  const head = ['caller', 'CPU µs', 'of plain', 'spread', 'triggers/s', 'of plain']
  const callers = formatTable(head, [['new key over TLS 1.3', '10', '1.10', '5 %', '70', '0.88']])
  const embedded = `## Callers as they come: 1 device, 64 callers\n\n${callers}\n\n${heading(triggerTable(cells, columns))}`

  const contenders = ['Jobcast', 'sketch', 'pg-boss'].map((name) => ({
    name,
    takesKeys: true as const,
    measure: () => Promise.reject(new Error('nothing is measured here')),
  }))
  const postgres = [one, keyed]
    .map((cell) => besideSection(invented(cell, { Jobcast: 60, sketch: 80, 'pg-boss': 8 }), contenders))
    .join('\n\n')
  assert.deepEqual(performanceTable(embedded, postgres).split('\n').slice(2), [
    '| embedded | 1 device, with an `Idempotency-Key` | 64 | 80 | 0.80 of the same app storing nothing, 0.50 of a sketch that does the trigger and nothing else |',
    '| embedded | 1 device, with an `Idempotency-Key` | 1 | 80 | p50 0.50 ms, 0.80 of the app, 0.50 of the sketch |',
    '| embedded | 1 device, with an `Idempotency-Key`, over TLS 1.3 | 64 | 70 | 0.88 of a plain call over a plain connection |',
    '| embedded | 1 device | 64 | 80 | 0.80 of the app, 0.50 of the sketch |',
    '| PostgreSQL | 1 device, with an `Idempotency-Key` | 64 | 60 | 0.75 of a sketch, 7.5 × pg-boss |',
    '| PostgreSQL | 1 device | 64 | 60 | 0.75 of the sketch, 7.5 × pg-boss |',
  ])
})
