// A search that forgives what was left out: the letters of the pattern must stand in the text in their order. What
// stands together, and at the beginning of words, counts more.

export type FuzzyMatch = { score: number; places: number[] }

const startsWord = 8
const standsTogether = 5

export function fuzzyMatch(pattern: string, text: string): FuzzyMatch | undefined {
  const wanted = pattern.toLowerCase().replaceAll(/\s+/g, '')
  const given = text.toLowerCase()
  if (wanted === '') return { score: 0, places: [] }
  const whole = given.indexOf(wanted)
  if (whole >= 0) {
    const places = Array.from(wanted, (_, index) => whole + index)
    return { score: scoreOf(places, text) + wanted.length * standsTogether, places }
  }
  return best(wanted, given, text)
}

/** Best first; of equals those that are shorter, then by name. */
export function fuzzyFilter<T>(
  pattern: string,
  items: readonly T[],
  textOf: (item: T) => string,
): { item: T; places: number[] }[] {
  return items
    .flatMap((item) => {
      const match = fuzzyMatch(pattern, textOf(item))
      return match ? [{ item, ...match, text: textOf(item) }] : []
    })
    .sort((a, b) => b.score - a.score || a.text.length - b.text.length || (a.text < b.text ? -1 : 1))
}

/** From each place where it may begin; the rest is taken as early as possible. */
function best(wanted: string, given: string, text: string): FuzzyMatch | undefined {
  let found: FuzzyMatch | undefined
  for (let from = given.indexOf(wanted[0] as string); from >= 0; ) {
    const places = placesFrom(wanted, given, from)
    if (places === undefined) break
    const score = scoreOf(places, text)
    if (found === undefined || score > found.score) found = { score, places }
    from = given.indexOf(wanted[0] as string, from + 1)
  }
  return found
}

function placesFrom(wanted: string, given: string, from: number): number[] | undefined {
  const places: number[] = []
  let at = from
  for (const letter of wanted) {
    at = given.indexOf(letter, at)
    if (at < 0) return undefined
    places.push(at)
    at++
  }
  return places
}

function scoreOf(places: number[], text: string): number {
  return places.reduce((sum, place, index) => {
    const together = index > 0 && places[index - 1] === place - 1 ? standsTogether : 0
    return sum + together + (isWordStart(text, place) ? startsWord : 0) - place / 100
  }, 0)
}

function isWordStart(text: string, place: number): boolean {
  return place === 0 || /[^\p{L}\p{N}]/u.test(text[place - 1] as string)
}
