// Compares two texts line by line.

type DiffRow = { left?: DiffLine; right?: DiffLine; isSame: boolean }
export type DiffLine = { number: number; text: string }

/** Larger differences are shown as one replaced block, because comparing all pairs of lines takes too long. */
const comparedAtMost = 4_000_000

export function diffLines(before: string, after: string): DiffRow[] {
  const [left, right] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < left.length && start < right.length && left[start] === right[start]) start++
  let end = 0
  const most = Math.min(left.length, right.length) - start
  while (end < most && left[left.length - 1 - end] === right[right.length - 1 - end]) end++
  const middle = pairLines(left.slice(start, left.length - end), right.slice(start, right.length - end))
  const pairs = [
    ...left.slice(0, start).map((_, index): Pair => [index, index]),
    ...middle.map(([l, r]): Pair => [l === undefined ? l : l + start, r === undefined ? r : r + start]),
    ...left
      .slice(left.length - end)
      .map((_, index): Pair => [left.length - end + index, right.length - end + index]),
  ]
  return besideEachOther(pairs, left, right)
}

/** Indexes of a line in both texts, or in one of them. */
type Pair = [number | undefined, number | undefined]

/** Uses the longest common subsequence. */
function pairLines(left: string[], right: string[]): Pair[] {
  const only: Pair[] = [
    ...left.map((_, index): Pair => [index, undefined]),
    ...right.map((_, index): Pair => [undefined, index]),
  ]
  const width = right.length + 1
  if ((left.length + 1) * width > comparedAtMost) return only
  // For each pair of positions: the length of the longest common subsequence after it.
  const common = new Uint16Array((left.length + 1) * width)
  const at = (l: number, r: number) => common[l * width + r] as number
  for (let l = left.length - 1; l >= 0; l--) {
    for (let r = right.length - 1; r >= 0; r--) {
      common[l * width + r] =
        left[l] === right[r] ? at(l + 1, r + 1) + 1 : Math.max(at(l + 1, r), at(l, r + 1))
    }
  }
  const pairs: Pair[] = []
  let [l, r] = [0, 0]
  while (l < left.length || r < right.length) {
    if (l < left.length && r < right.length && left[l] === right[r]) pairs.push([l++, r++])
    else if (r >= right.length || (l < left.length && at(l + 1, r) >= at(l, r + 1)))
      pairs.push([l++, undefined])
    else pairs.push([undefined, r++])
  }
  return pairs
}

/** Puts replaced lines in the same row as their replacements. */
function besideEachOther(pairs: Pair[], left: string[], right: string[]): DiffRow[] {
  const rows: DiffRow[] = []
  const line = (lines: string[], index: number): DiffLine => ({
    number: index + 1,
    text: lines[index] as string,
  })
  let open = 0
  for (const [l, r] of pairs) {
    if (l !== undefined && r !== undefined) {
      rows.push({ left: line(left, l), right: line(right, r), isSame: true })
      open = rows.length
    } else if (l !== undefined) rows.push({ left: line(left, l), isSame: false })
    else if (r !== undefined) {
      while (open < rows.length && rows[open]?.right) open++
      const partner = rows[open]
      if (partner) partner.right = line(right, r)
      else rows.push({ right: line(right, r), isSame: false })
    }
  }
  return rows
}

/** The rows to show, each with the number of equal rows omitted before it. */
export function onlyChanges(rows: DiffRow[], around = 3): { row: DiffRow; skipped: number }[] {
  const near = new Set<number>()
  for (const [index, { isSame }] of rows.entries()) {
    if (isSame) continue
    for (let at = index - around; at <= index + around; at++) near.add(at)
  }
  const shown: { row: DiffRow; skipped: number }[] = []
  let skipped = 0
  for (const [index, row] of rows.entries()) {
    if (!near.has(index)) {
      skipped++
      continue
    }
    shown.push({ row, skipped })
    skipped = 0
  }
  return shown
}
