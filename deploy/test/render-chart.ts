// Templates of a Helm chart, rendered without Helm, which is not on every machine: the part of the language that ours use, and an
// error for anything else.

import { parse, stringify } from 'yaml'

type Scope = { dot: unknown; root: unknown; variables: ReadonlyMap<string, unknown> }
type Node = string | { head: string; body: Node[]; otherwise: Node[] }

/** What is asked for with `fail`. */
export class ChartRefused extends Error {
  override name = 'ChartRefused'
}

/** The text that Helm would send, as a value; undefined if nothing is left of it. */
export function renderChart(template: string, context: object): unknown {
  const scope = { dot: context, root: context, variables: new Map() }
  return parse(renderAll(treeOf(template), scope)) ?? undefined
}

/** Texts and actions in turn; `{{-` takes the white space before it along, `-}}` that behind it. */
function treeOf(template: string): Node[] {
  const tokens = template.split(/(\s*\{\{-.*?-?\}\}|\{\{.*?-?\}\})/s)
  const top: Node[] = []
  const open: { node: Exclude<Node, string>; into: Node[] }[] = []
  const into = () => open.at(-1)?.into ?? top
  for (const [at, token] of tokens.entries()) {
    if (at % 2 === 0) {
      into().push(token)
      continue
    }
    const action = token.trim().replace(/^\{\{-?\s*|\s*-?\}\}$/g, '')
    const [word] = action.split(' ')
    if (word === 'if' || word === 'range' || word === 'with') {
      const node = { head: action, body: [], otherwise: [] }
      into().push(node)
      open.push({ node, into: node.body })
    } else if (word === 'else') {
      const last = open.at(-1)
      if (last === undefined) throw new Error(`${action} without if`)
      last.into = last.node.otherwise
      if (action !== 'else') {
        // `else if` is an `if` inside that ends with the same `end`.
        const node = { head: action.slice('else '.length), body: [], otherwise: [] }
        last.into.push(node)
        last.node = node
        last.into = node.body
      }
    } else if (word === 'end') {
      if (open.pop() === undefined) throw new Error('end without a beginning')
    } else into().push({ head: action, body: [], otherwise: [] })
  }
  if (open.length > 0) throw new Error(`${open.at(-1)?.node.head} has no end`)
  return top
}

function renderAll(nodes: readonly Node[], scope: Scope): string {
  return nodes.map((node) => (typeof node === 'string' ? node : render(node, scope))).join('')
}

function render({ head, body, otherwise }: Exclude<Node, string>, scope: Scope): string {
  const [, word, rest = ''] = /^(if|with|range) (.*)$/s.exec(head) ?? []
  if (word === undefined) return String(resultOf(head, scope) ?? '')
  if (word === 'range') return renderRange(rest, body, scope)
  const value = resultOf(rest, scope)
  if (!isTrue(value)) return renderAll(otherwise, scope)
  return renderAll(body, word === 'with' ? { ...scope, dot: value } : scope)
}

function renderRange(head: string, body: readonly Node[], scope: Scope): string {
  const [, key, name, list = head] = /^(\$\w+), (\$\w+) := (.*)$/.exec(head) ?? []
  const entries = Object.entries((resultOf(list, scope) ?? {}) as Record<string, unknown>)
  const rounds = entries.map(([at, value]) => {
    const variables = new Map(scope.variables)
    if (key !== undefined && name !== undefined) variables.set(key, at).set(name, value)
    return renderAll(body, { ...scope, dot: value, variables })
  })
  return rounds.join('')
}

/** A pipeline: what is on the left is the last argument of what is on the right. */
function resultOf(pipeline: string, scope: Scope): unknown {
  let piped: unknown[] = []
  for (const part of pipeline.split(' | ')) {
    const [first = '', ...words] = part.trim().match(/"[^"]*"|\S+/g) ?? []
    const call = functions[first]
    if (call === undefined && words.length > 0) throw new Error(`unknown function ${first}`)
    const given = [...words.map((word) => operand(word, scope)), ...piped]
    piped = [call === undefined ? operand(first, scope) : call(...given)]
  }
  return piped[0]
}

const functions: Record<string, (...given: unknown[]) => unknown> = {
  toYaml: (value) => stringify(value).trimEnd(),
  nindent: (width, text) => `\n${String(text).replace(/^/gm, ' '.repeat(Number(width)))}`,
  quote: (value) => JSON.stringify(String(value)),
  default: (otherwise, value) => (isTrue(value) ? value : otherwise),
  not: (value) => !isTrue(value),
  fail: (message) => {
    throw new ChartRefused(String(message))
  },
}

function operand(word: string, { dot, root, variables }: Scope): unknown {
  if (/^"[^"]*"$|^\d+$/.test(word)) return JSON.parse(word)
  if (word === '.') return dot
  const [first = '', ...path] = word.split('.')
  const from = first === '' ? dot : first === '$' ? root : variables.get(first)
  if (from === undefined) throw new Error(`unknown name ${word}`)
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], from)
}

/** As Go's templates judge. */
function isTrue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return Boolean(value)
}
