// A fuzzy search: the letters of the pattern must occur in the text in their order. Letters that are adjacent, and at
// the start of words, score higher.

type FuzzyMatch = { score: number; positions: number[] }

const startsWord = 8
const adjacent = 5

export function fuzzyMatch(pattern: string, text: string): FuzzyMatch | undefined {
  const wanted = pattern.toLowerCase().replaceAll(/\s+/g, '')
  const given = text.toLowerCase()
  if (wanted === '') return { score: 0, positions: [] }
  const whole = given.indexOf(wanted)
  if (whole >= 0) {
    const positions = Array.from(wanted, (_, index) => whole + index)
    return { score: scoreOf(positions, text) + wanted.length * adjacent, positions }
  }
  return best(wanted, given, text)
}

/** Best matches first; equal scores by length, then by name. */
export function fuzzyFilter<T>(
  pattern: string,
  items: readonly T[],
  textOf: (item: T) => string,
): { item: T; positions: number[] }[] {
  return items
    .flatMap((item) => {
      const match = fuzzyMatch(pattern, textOf(item))
      return match ? [{ item, ...match, text: textOf(item) }] : []
    })
    .sort((a, b) => b.score - a.score || a.text.length - b.text.length || (a.text < b.text ? -1 : 1))
}

/** Tries each possible start; the other letters match as early as possible. */
function best(wanted: string, given: string, text: string): FuzzyMatch | undefined {
  let found: FuzzyMatch | undefined
  for (let from = given.indexOf(wanted[0] as string); from >= 0; ) {
    const positions = positionsFrom(wanted, given, from)
    if (positions === undefined) break
    const score = scoreOf(positions, text)
    if (found === undefined || score > found.score) found = { score, positions }
    from = given.indexOf(wanted[0] as string, from + 1)
  }
  return found
}

function positionsFrom(wanted: string, given: string, from: number): number[] | undefined {
  const positions: number[] = []
  let at = from
  for (const letter of wanted) {
    at = given.indexOf(letter, at)
    if (at < 0) return undefined
    positions.push(at)
    at++
  }
  return positions
}

function scoreOf(positions: number[], text: string): number {
  return positions.reduce((sum, place, index) => {
    const together = index > 0 && positions[index - 1] === place - 1 ? adjacent : 0
    return sum + together + (isWordStart(text, place) ? startsWord : 0) - place / 100
  }, 0)
}

function isWordStart(text: string, place: number): boolean {
  return place === 0 || /[^\p{L}\p{N}]/u.test(text[place - 1] as string)
}
