// Matches a pattern by following all its paths at once (Thompson's construction): time is proportional to the length of the
// text times the length of the pattern, without exponential cases. A budget bounds the product: a pattern of 721 steps took
// 1.35 s of one thread for a text of 16 KB.

import { CharSet } from './char-set.ts'
import { type AssertKind, PatternError, type PatternNode, parsePattern, wordChars } from './pattern-syntax.ts'

type Split = { kind: 'split'; to: number; or: number }
type Step =
  | { kind: 'chars'; set: CharSet }
  | { kind: 'assert'; assert: AssertKind }
  | Split
  | { kind: 'match' }

const maxSteps = 1000
/** Maximum number of nodes, including repetitions, because empty ones take time, too. */
const maxAppended = 4000
type Program = { steps: Step[]; appended: number; sets: Map<PatternNode, CharSet> }

/** Maximum number of steps for all values of one call: about 5 ms. */
export const maxMatchSteps = 250_000

/** The remaining steps, shared by all matches of one call. */
export class MatchBudget {
  left: number

  constructor(steps = maxMatchSteps) {
    this.left = steps
  }
}

export type MatchResult = 'matches' | 'differs' | 'over-budget'

export type CompiledPattern = {
  /** The maximum number of steps for each character, and for the end of the text. */
  size: number
  /** Whether the pattern matches somewhere in the text. */
  match(text: string, budget: MatchBudget): MatchResult
}

/** Throws a PatternError. */
export function compilePattern(pattern: string): CompiledPattern {
  const steps: Step[] = []
  append(parsePattern(pattern), { steps, appended: 0, sets: new Map() })
  steps.push({ kind: 'match' })
  return { size: steps.length, match: (text, budget) => match(steps, text, budget) }
}

function append(node: PatternNode, program: Program): void {
  const { steps, sets } = program
  if (steps.length > maxSteps || ++program.appended > maxAppended) {
    throw new PatternError(0, 'the pattern is too large with its repetitions')
  }
  switch (node.kind) {
    case 'sequence':
      for (const part of node.of) append(part, program)
      return
    case 'choice':
      appendChoice(node.of, program)
      return
    case 'repeat':
      appendRepeat(node, program)
      return
    case 'assert':
      steps.push(node)
      return
    case 'chars': {
      const set = sets.get(node) ?? new CharSet(node.ranges, node.isNegated)
      sets.set(node, set)
      steps.push({ kind: 'chars', set })
    }
  }
}

function appendChoice(of: PatternNode[], program: Program): void {
  const { steps } = program
  const ends: Split[] = []
  for (const [index, part] of of.entries()) {
    if (index === of.length - 1) {
      append(part, program)
      continue
    }
    const choice = split(steps)
    append(part, program)
    ends.push(split(steps))
    choice.or = steps.length
  }
  for (const end of ends) end.to = end.or = steps.length
}

function appendRepeat({ of, min, max }: Extract<PatternNode, { kind: 'repeat' }>, program: Program): void {
  const { steps } = program
  for (let time = 0; time < min; time++) append(of, program)
  if (max === Number.POSITIVE_INFINITY) {
    const start = steps.length
    const choice = split(steps)
    append(of, program)
    const back = split(steps)
    back.to = back.or = start
    choice.or = steps.length
    return
  }
  const choices: Split[] = []
  for (let time = min; time < max; time++) {
    choices.push(split(steps))
    append(of, program)
  }
  for (const choice of choices) choice.or = steps.length
}

function split(steps: Step[]): Split {
  const step = { kind: 'split' as const, to: steps.length + 1, or: steps.length + 1 }
  steps.push(step)
  return step
}

/**
 * `seen` holds the position at which each step was last reached, so each step is followed once per position. Steps that are
 * not followed again count as well, because checking them takes as long.
 */
function match(steps: Step[], text: string, budget: MatchBudget): MatchResult {
  const codes = Array.from(text, (char) => char.codePointAt(0) as number)
  const seen = new Int32Array(steps.length).fill(-1)
  let current: number[] = []
  for (let at = 0; at <= codes.length; at++) {
    const next: number[] = []
    // A match may begin at each position.
    const waiting = current
    waiting.push(0)
    for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
      if (--budget.left < 0) return 'over-budget'
      if (seen[step] === at) continue
      seen[step] = at
      const found = steps[step] as Step
      if (found.kind === 'match') return 'matches'
      if (found.kind === 'split') {
        waiting.push(found.or)
        if (found.to !== found.or) waiting.push(found.to)
      } else if (found.kind === 'assert') {
        if (holds(found.assert, codes, at)) waiting.push(step + 1)
      } else if (at < codes.length && found.set.has(codes[at] as number)) next.push(step + 1)
    }
    current = next
  }
  return 'differs'
}

function holds(assert: AssertKind, codes: number[], at: number): boolean {
  if (assert === 'start') return at === 0
  if (assert === 'end') return at === codes.length
  const isBoundary = isWord(codes[at - 1]) !== isWord(codes[at])
  return isBoundary === (assert === 'boundary')
}

const words = new CharSet(wordChars, false)

function isWord(code: number | undefined): boolean {
  return code !== undefined && words.has(code)
}
