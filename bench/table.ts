// Markdown tables that are readable in a terminal.

/** Numbers are right-aligned, a first column of words is left-aligned. */
export function formatTable(head: string[], rows: string[][]): string {
  const isText = (column: number) => column === 0 && rows.some(([first = '']) => /^\D/.test(first))
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const pad = (cell: string, column: number) =>
    isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  const line = (cells: string[]) => `| ${cells.map(pad).join(' | ')} |`
  const ruler = widths.map((width, column) => '-'.repeat(width + 1) + (isText(column) ? '-' : ':'))
  return [line(head), `|${ruler.join('|')}|`, ...rows.map(line)].join('\n')
}

/** Three significant digits, with thousands separators. */
export function formatRate(rate: number): string {
  return Number.isFinite(rate) ? rate.toLocaleString('en-US', { maximumSignificantDigits: 3 }) : '–'
}

export function formatMs(ms: number | undefined): string {
  if (ms === undefined || !Number.isFinite(ms)) return '–'
  return ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)
}

export function formatRatio(ratio: number): string {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : '–'
}

export function formatSpread(spread: number): string {
  return Number.isFinite(spread) ? `${Math.round(spread * 100)} %` : '–'
}
