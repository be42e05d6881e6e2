// Parses a page: fenced blocks, links, headings.

export type Block = {
  /** Of its first line of text, for messages. */
  line: number
  /** `sh` */
  language: string
  /** What stands behind the language; it is not shown to the reader. */
  words: readonly string[]
  text: string
}

export function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let open: { fence: string; indent: string; info: string; line: number; lines: string[] } | undefined
  for (const [index, line] of page.split('\n').entries()) {
    const [, indent = '', fence = '', info = ''] = /^(\s*)(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (open === undefined) {
      if (fence !== '') open = { fence, indent, info: info.trim(), line: index + 2, lines: [] }
    } else if (fence === open.fence && info.trim() === '') {
      const [language = '', ...words] = open.info.split(/\s+/)
      blocks.push({ line: open.line, language, words, text: `${open.lines.join('\n')}\n` })
      open = undefined
    } else open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line)
  }
  if (open !== undefined) throw new Error(`the block at line ${open.line} has no end`)
  return blocks
}

/** Where its links lead, as they stand there. */
export function linksOf(page: string): string[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
}

/** The anchors of its headings, as GitHub makes them. */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of proseOf(page).matchAll(/^#{1,6} (.*)$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = plain.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
    let free = anchor
    for (let count = 1; anchors.has(free); count++) free = `${anchor}-${count}`
    anchors.add(free)
  }
  return anchors
}

/** Without blocks: what looks like a link or a heading there is none. */
function proseOf(page: string): string {
  return page.replace(/^\s*(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\s*\1\s*$/gm, '')
}
