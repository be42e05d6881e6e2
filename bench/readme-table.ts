// Generates the performance table of the README from the linked results: rates with an Idempotency-Key, over plain connections and
// TLS, and then plain calls. Missing results have no row.

/** Finds the results and the table in the README. */
export const linksPattern = /\(\[embedded\]\((.*?)\), \[PostgreSQL\]\((.*?)\)\)/
export const tablePattern = /^\| store \| one call for .*?(?=\n\n)/ms

/** The columns of a table. The ratio to a contender, which follows its rate, has the key of its name. */
type Row = Map<string, string>
type Section = { title: string; rows: Row[] }
type Line = { callFor: string; callers: string; executions: string; comparisons: string[] }

const head = ['store', 'one call for', 'callers', 'executions/s', 'compared to']
/** Contenders in the words of the README, where they are first named and later. */
const wordsOf: Record<string, [first: string, later: string]> = {
  'nothing stored': ['the same app storing nothing', 'the app'],
  'sketch, embedded': ['a sketch that does the trigger and nothing else', 'the sketch'],
  'sketch, PostgreSQL': ['a sketch', 'the sketch'],
}
const plainCells = [
  { devices: '1', callers: '64' },
  { devices: '100', callers: '64' },
  { devices: '10,000', callers: '8' },
]

/** `embedded`, `postgres`: the text of the results of `npm run bench` and `npm run bench:postgres`. */
export function performanceTable(embedded: string, postgres: string): string {
  const lines = [
    ...linesOf('embedded', sectionsOf(embedded), embeddedLine),
    ...linesOf('PostgreSQL', sectionsOf(postgres), postgresLine),
  ]
  const rows = [head, head.map(() => '---'), ...lines]
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

type Cell = { devices: string; callers: string; hasKeys: boolean }
type FindLine = (sections: Section[], cell: Cell, wording: Wording) => Line | undefined

function linesOf(store: string, sections: Section[], find: FindLine): string[][] {
  const wording = new Wording(store)
  const keyed = ['64', '1'].map((callers) =>
    find(sections, { devices: '1', callers, hasKeys: true }, wording),
  )
  const overTls = tlsLine(sections)
  const plain = plainCells.map((cell) => find(sections, { ...cell, hasKeys: false }, wording))
  return [...keyed, overTls, ...plain].flatMap((line) =>
    line ? [[store, line.callFor, line.callers, line.executions, line.comparisons.join(', ')]] : [],
  )
}

function embeddedLine(sections: Section[], cell: Cell, wording: Wording): Line | undefined {
  const { devices, callers, hasKeys } = cell
  const wanted = hasKeys ? `${callers}, new keys` : callers
  const row = sections
    .find(({ title }) => title.endsWith('executions stored before'))
    ?.rows.find((each) => each.get('devices') === devices && each.get('callers') === wanted)
  if (row === undefined) return undefined
  const comparisons = ['nothing stored', 'sketch'].flatMap((name) => {
    const ratio = row.get(`of ${name}`)
    return ratio === undefined ? [] : [`${ratio} of ${wording.of(name)}`]
  })
  return lineOf(cell, row, comparisons)
}

function postgresLine(sections: Section[], cell: Cell, wording: Wording): Line | undefined {
  const { devices, callers, hasKeys } = cell
  const keys = hasKeys ? ', each call with a new Idempotency-Key' : ''
  const found = sections.find(
    ({ title }) => title === `Devices a call: ${devices}, callers: ${callers}${keys}`,
  )
  const rowOf = (name: string) => found?.rows.find((row) => row.get('') === name)
  const jobcast = rowOf('Jobcast')
  if (jobcast === undefined) return undefined
  const ratioTo = (name: string) => rowOf(name)?.get('Jobcast is')?.replace(' ×', '')
  const [sketch, pgBoss, copy] = ['sketch', 'pg-boss', 'COPY'].map(ratioTo)
  return lineOf(cell, jobcast, [
    ...(sketch ? [`${sketch} of ${wording.of('sketch')}`] : []),
    ...(pgBoss ? [`${Number(pgBoss).toFixed(1)} × pg-boss`] : []),
    // For few rows per call, COPY is not a limit, because it has no group commit.
    ...(copy && devices === '10,000' ? [`${copy} of COPY into the same table`] : []),
  ])
}

function lineOf({ devices, callers, hasKeys }: Cell, row: Row, comparisons: string[]): Line {
  const count = devices === '1' ? '1 device' : `${devices} devices`
  const wait = callers === '1' ? [`p50 ${row.get('p50 ms')} ms`] : []
  return {
    callFor: hasKeys ? `${count}, with an \`Idempotency-Key\`` : count,
    callers,
    executions: row.get('executions/s') ?? '',
    comparisons: [...wait, ...comparisons],
  }
}

function tlsLine(sections: Section[]): Line | undefined {
  const row = sections
    .find(({ title }) => title.startsWith('Callers as they come'))
    ?.rows.find((each) => each.get('caller') === 'new key over TLS 1.3')
  if (row === undefined) return undefined
  return {
    callFor: '1 device, with an `Idempotency-Key`, over TLS 1.3',
    callers: '64',
    executions: row.get('triggers/s') ?? '',
    comparisons: [`${row.get('of plain triggers/s')} of a plain call over a plain connection`],
  }
}

/** Describes a contender in full when it is first named. */
class Wording {
  readonly #store: string
  readonly #named = new Set<string>()

  constructor(store: string) {
    this.#store = store
  }

  of(name: string): string {
    const [first, later] = wordsOf[name] ?? wordsOf[`${name}, ${this.#store}`] ?? [name, name]
    const isFirst = !this.#named.has(name)
    this.#named.add(name)
    return isFirst ? first : later
  }
}

function sectionsOf(results: string): Section[] {
  return results.split(/^## /m).map((text) => {
    const [title = '', ...lines] = text.split('\n')
    const [names = [], , ...rows] = lines.filter((line) => line.startsWith('|')).map(cellsOf)
    const columns = names.map((name, at) => columnOf(name, names[at - 1] ?? ''))
    return { title, rows: rows.map((cells) => new Map(columns.map((name, at) => [name, cells[at] ?? '']))) }
  })
}

/** Two columns with one name are distinguished by the previous column. */
function columnOf(name: string, before: string): string {
  if (name === 'of it') return `of ${before.replace(' /s', '')}`
  return name === 'of plain' ? `of plain ${before}` : name
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('**', ''))
}
