// Validates a value of a parameter.

import { MatchBudget } from './linear-pattern.ts'
import type { ParameterProperty } from './parameter-property.ts'
import { patternCache } from './pattern-cache.ts'

/** `at`: what to append to the name of the field, such as `.2` for an item. `message` is the end of a sentence. */
type ValueProblem = { at: string; message: string }

/** undefined: the value is valid. `budget` is shared by all values of one call. */
export function valueProblem(
  property: ParameterProperty,
  value: unknown,
  budget = new MatchBudget(),
): ValueProblem | undefined {
  const message = typeProblem(property.type, value) ?? ownProblem(property, value, budget)
  if (message !== undefined) return { at: '', message }
  if (!Array.isArray(value) || property.items === undefined) return undefined
  for (const [index, item] of value.entries()) {
    const problem = valueProblem(property.items, item, budget)
    if (problem !== undefined) return { at: `.${index}${problem.at}`, message: problem.message }
  }
  return undefined
}

function typeProblem(type: ParameterProperty['type'], value: unknown): string | undefined {
  switch (type) {
    case 'string':
      if (typeof value !== 'string') return 'must be text'
      return value.isWellFormed() && !value.includes('\0')
        ? undefined
        : 'must have no lone surrogates and no character U+0000'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a number'
    case 'integer':
      return Number.isSafeInteger(value) ? undefined : 'must be an integer'
    case 'array':
      return Array.isArray(value) ? undefined : 'must be a list'
  }
}

function ownProblem(property: ParameterProperty, value: unknown, budget: MatchBudget): string | undefined {
  const { enum: choices, const: only } = property
  if (choices !== undefined && !textsOf(choices).has(JSON.stringify(value))) {
    return `must be one of ${listed(choices)}`
  }
  if (only !== undefined && !isEqual(only, value)) return `must be ${JSON.stringify(only)}`
  if (typeof value === 'string') return textProblem(property, value, budget)
  if (typeof value === 'number') return numberProblem(property, value)
  return Array.isArray(value) ? listProblem(property, value) : undefined
}

function textProblem(
  { minLength = 0, maxLength, pattern }: ParameterProperty,
  text: string,
  budget: MatchBudget,
): string | undefined {
  const length = [...text].length
  if (length < minLength) return `must have at least ${characters(minLength)}`
  if (maxLength !== undefined && length > maxLength) return `must have at most ${characters(maxLength)}`
  if (pattern === undefined) return undefined
  const result = patternCache.get(pattern).match(text, budget)
  if (result === 'matches') return undefined
  if (result === 'differs') return `must match the pattern ${pattern}`
  return `takes too many steps to match the pattern ${pattern}: shorten it, or simplify the pattern`
}

function numberProblem(property: ParameterProperty, value: number): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = property
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return `must be greater than ${exclusiveMinimum}`
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return `must be less than ${exclusiveMaximum}`
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) return `must be a multiple of ${multipleOf}`
  return undefined
}

function listProblem({ minItems = 0, maxItems, uniqueItems }: ParameterProperty, list: unknown[]) {
  if (list.length < minItems) return `must have at least ${minItems} items`
  if (maxItems !== undefined && list.length > maxItems) return `must have at most ${maxItems} items`
  const distinct = new Set(list.map((item) => JSON.stringify(item)))
  return uniqueItems && distinct.size < list.length ? 'must not have the same item twice' : undefined
}

const choiceTexts = new WeakMap<readonly unknown[], Set<string>>()

/** The choices as JSON, computed once per list, because a value may have thousands of items. */
function textsOf(choices: readonly unknown[]): Set<string> {
  let texts = choiceTexts.get(choices)
  if (texts === undefined) {
    texts = new Set(choices.map((choice) => JSON.stringify(choice)))
    choiceTexts.set(choices, texts)
  }
  return texts
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

/** 0.3 is a multiple of 0.1, although the quotient of the two is 2.9999999999999996. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of
  const nearest = Math.round(quotient)
  return Math.abs(quotient - nearest) <= Number.EPSILON * Math.max(1, Math.abs(quotient))
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`
}

function listed(choices: unknown[]): string {
  const shown = choices.slice(0, 20).map((choice) => JSON.stringify(choice))
  return shown.join(', ') + (choices.length > shown.length ? ', …' : '')
}
