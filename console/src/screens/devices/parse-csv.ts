// Parses CSV according to RFC 4180, with quotes around values that contain separators, quotes or line breaks. Semicolons and tabs
// are also accepted as separators, because spreadsheets use them in some countries; the first line determines the separator.

export type CsvRow = { line: number; cells: string[] }

export function parseCsv(text: string): CsvRow[] {
  const separator = separatorOf(text)
  const rows: CsvRow[] = []
  let [cells, cell, isQuoted, line, startLine]: [string[], string, boolean, number, number] = [
    [],
    '',
    false,
    1,
    1,
  ]
  const endRow = () => {
    cells.push(cell)
    if (cells.some((each) => each.trim() !== '')) rows.push({ line: startLine, cells })
    cells = []
    cell = ''
    startLine = line
  }
  for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '\n') line++
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (text[at + 1] === '"') cell += text[++at]
      else isQuoted = false
    } else if (character === '"' && cell === '') isQuoted = true
    else if (character === separator) {
      cells.push(cell)
      cell = ''
    } else if (character === '\n') endRow()
    else if (character !== '\r') cell += character
  }
  endRow()
  return rows
}

function separatorOf(text: string): string {
  const [head = ''] = text.split('\n', 1)
  const count = (separator: string) => head.split(separator).length
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best))
}
