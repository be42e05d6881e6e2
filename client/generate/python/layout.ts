// Python source text: names, lines that are not too long, and docstrings.

/** Text, or parts in brackets, which are written one per line if they do not fit on one line. */
export type Code = string | { open: string; parts: Code[]; close: string }

const width = 110

export function layOut(code: Code, indent: number, before = 0): string {
  const flat = flatten(code)
  if (typeof code === 'string' || indent + before + flat.length <= width) return flat
  const inner = ' '.repeat(indent + 4)
  const lines = code.parts.map((part) => `${inner}${layOut(part, indent + 4, 1)},\n`)
  return `${code.open}\n${lines.join('')}${' '.repeat(indent)}${code.close}`
}

function flatten(code: Code): string {
  if (typeof code === 'string') return code
  return code.open + code.parts.map(flatten).join(', ') + code.close
}

/** `if-match` and `ifMatch` become `if_match`. */
export function snakeCase(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
  return keywords.has(words) ? `${words}_` : words
}

/** The keywords of Python. */
export const keywords = new Set([
  ...['and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def', 'del', 'elif', 'else'],
  ...['except', 'finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is', 'lambda', 'nonlocal', 'not'],
  ...['or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield'],
])

export function quoted(text: string): string {
  return JSON.stringify(text)
}

/** Paragraphs of a docstring; one that starts with spaces keeps them. */
export function docstring(paragraphs: string[], indent: number): string {
  const margin = ' '.repeat(indent)
  const lines = paragraphs.flatMap((paragraph, index) => {
    const isEntry = paragraph.startsWith(' ')
    const wrapped = wrap(escaped(paragraph), width - indent - (index === 0 ? 3 : 0))
    return index > 0 && !isEntry ? ['', ...wrapped] : wrapped
  })
  const text = lines.map((line) => (line ? margin + line : '')).join('\n')
  const isOneLine = lines.length === 1 && text.length + 6 <= width
  return `${margin}"""${text.slice(indent)}${isOneLine ? '' : `\n${margin}`}"""\n`
}

export function commentLines(text: string, indent: number): string {
  return wrap(text, width - indent - 2)
    .map((line) => `${' '.repeat(indent)}# ${line}\n`)
    .join('')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"""', "'''")
}

function wrap(text: string, columns: number): string[] {
  const margin = /^ */.exec(text)?.[0] ?? ''
  const hanging = margin === '' ? '' : `${margin}    `
  const lines: string[] = []
  let line = margin
  for (const word of text.trim().split(/\s+/)) {
    const isFull = line.trim() !== '' && line.length + 1 + word.length > columns
    if (isFull) lines.push(line)
    line = isFull ? hanging + word : line + (line.trim() === '' ? '' : ' ') + word
  }
  return [...lines, line]
}
