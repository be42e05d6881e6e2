// The subset of JSONPath that --output supports: a sequence of names, indexes and wildcards. Each value of the document is
// visited at most once, so the time is linear in its size; filters and `..` are not supported.

export type JsonPath = (document: unknown) => unknown[]

type Step = { kind: 'name'; name: string } | { kind: 'index'; index: number } | { kind: 'all' }

const maxLength = 1000

/** The message is a sentence that says what is wrong with the path. */
export class JsonPathError extends Error {
  override name = 'JsonPathError'
}

/** `{.items[0].name}`; the braces, and a `$` at the beginning, are optional. */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > maxLength) throw new JsonPathError(`A path has at most ${maxLength} characters.`)
  const isInBraces = text.startsWith('{') && text.endsWith('}')
  const path = (isInBraces ? text.slice(1, -1) : text).trim().replace(/^\$/, '')
  const steps = stepsOf(path === '.' ? '' : path)
  return (document) =>
    steps.reduce((values, step) => values.flatMap((value) => follow(value, step)), [document])
}

// Each alternative begins with another character and repeats one class, so it is linear.
const stepPattern = /\.\*|\.([\w-]+)|\[\*\]|\[(-?\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/y

function stepsOf(path: string): Step[] {
  const steps: Step[] = []
  const pattern = new RegExp(stepPattern)
  while (pattern.lastIndex < path.length) {
    const at = pattern.lastIndex
    const match = pattern.exec(path)
    if (match === null) {
      throw new JsonPathError(
        `It is not clear at "${path.slice(at, at + 20)}"; a path is like {.items[0].name}, {[*].deviceId} or {['a.b']}.`,
      )
    }
    steps.push(stepOf(match))
  }
  return steps
}

function stepOf([, word, index, quoted, doubleQuoted]: RegExpExecArray): Step {
  const name = word ?? quoted ?? doubleQuoted
  if (name !== undefined) return { kind: 'name', name }
  return index === undefined ? { kind: 'all' } : { kind: 'index', index: Number(index) }
}

/** A step that does not exist matches nothing. */
function follow(value: unknown, step: Step): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (step.kind === 'all') return Object.values(value)
  if (step.kind === 'index') {
    if (!Array.isArray(value)) return []
    const at = step.index < 0 ? value.length + step.index : step.index
    return at in value ? [value[at]] : []
  }
  if (Array.isArray(value) || !Object.hasOwn(value, step.name)) return []
  return [(value as Record<string, unknown>)[step.name]]
}
