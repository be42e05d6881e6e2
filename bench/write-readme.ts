// npm run bench:readme -- DATE: generates the performance table of the README from the results of that day.

import { readFileSync, writeFileSync } from 'node:fs'
import { linksPattern, performanceTable, tablePattern } from './readme-table.ts'

const [date = ''] = process.argv.slice(2)
const results = [`bench/results/${date}.md`, `bench/results/${date}-postgres.md`] as const
const fileOf = (path: string) => new URL(`../${path}`, import.meta.url)
const [embedded, postgres] = results.map((path) => readFileSync(fileOf(path), 'utf8'))
const readme = readFileSync(fileOf('README.md'), 'utf8')
const links = `([embedded](${results[0]}), [PostgreSQL](${results[1]}))`
const written = readme
  .replace(linksPattern, links)
  .replace(tablePattern, performanceTable(embedded ?? '', postgres ?? ''))
writeFileSync(fileOf('README.md'), written)
console.log(
  'README.md: revise the sentences before and after the table by hand; a test compares the table only.',
)
