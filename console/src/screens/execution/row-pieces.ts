import type { Line } from './ansi.ts'

type Piece = { text: string; classes: string; isFound: boolean }

/** Splits a part of a line where its style changes and where matches begin and end. */
export function piecesOf({ text, styles }: Line, from: number, to: number, search: string): Piece[] {
  const found = search === '' ? [] : placesOf(text.toLowerCase(), search.toLowerCase())
  const cuts = new Set([from, to])
  for (const { start } of styles) if (start > from && start < to) cuts.add(start)
  for (const start of found) {
    for (const cut of [start, start + search.length]) if (cut > from && cut < to) cuts.add(cut)
  }
  const sorted = [...cuts].sort((a, b) => a - b)
  return sorted.slice(0, -1).map((start, index) => ({
    text: text.slice(start, sorted[index + 1]),
    classes: styles.findLast((style) => style.start <= start)?.classes ?? '',
    isFound: found.some((place) => place <= start && start < place + search.length),
  }))
}

/** Limits the time for lines with very many matches. */
const markedAtMost = 200

function placesOf(text: string, wanted: string): number[] {
  const positions: number[] = []
  for (let at = text.indexOf(wanted); at >= 0 && positions.length < markedAtMost; ) {
    positions.push(at)
    at = text.indexOf(wanted, at + wanted.length)
  }
  return positions
}
