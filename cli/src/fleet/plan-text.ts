// A plan as text, like a diff, and as JSON.

import type { Paint } from '../output/colors.ts'
import { plainText } from '../output/text-width.ts'
import type { Change, FieldChange, Plan } from './plan-fleet.ts'

const marks = { create: '+', update: '~', delete: '-' } as const

const styles = { '+': 'green', '~': 'yellow', '-': 'red' } as const

type PlanLine = { mark: keyof typeof styles; text: string }

export function planText(plan: Plan, paint: Paint): string {
  if (plan.changes.length === 0) return ''
  const lines = plan.changes.flatMap(linesOf).map(({ mark, text }) => paint(styles[mark], text))
  return [...lines, countsText(plan)].join('\n')
}

export function planJson(plan: Plan) {
  return { ...countsOf(plan), changes: plan.changes.map(changeJson) }
}

function linesOf({ action, kind, name, fields }: Change): PlanLine[] {
  const mark = marks[action]
  const lines = Object.entries(fields).flatMap(([field, change]) => fieldLines(field, change))
  return [
    { mark, text: `${mark} ${kind.noun} ${plainText(name)}` },
    ...lines.map((line) => ({ ...line, text: `    ${line.text}` })),
  ]
}

export function countsOf({ changes, unchanged }: Plan) {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length
  return { create: count('create'), update: count('update'), delete: count('delete'), unchanged }
}

/** `2 to create, 1 to update, 5 unchanged` */
function countsText(plan: Plan): string {
  const counts = countsOf(plan)
  const parts = (['create', 'update', 'delete'] as const).flatMap((action) =>
    counts[action] > 0 ? [`${counts[action]} to ${action}`] : [],
  )
  return [...parts, `${counts.unchanged} unchanged`].join(', ')
}

export function changeJson({ action, kind, name, fields }: Change) {
  return { action, kind: kind.noun, name, fields }
}

/** Inside maps, such as a document, shows only differences. */
export function fieldLines(field: string, { from, to }: FieldChange): PlanLine[] {
  const [before, after] = [leaves(field, from), leaves(field, to)]
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path): PlanLine[] => {
    const [was, is] = [before.get(path), after.get(path)]
    if (was === is) return []
    if (was === undefined) return [{ mark: '+', text: `+ ${path}: ${is}` }]
    if (is === undefined) return [{ mark: '-', text: `- ${path}: ${was}` }]
    return [{ mark: '~', text: `~ ${path}: ${was} -> ${is}` }]
  })
}

/** Each as JSON, so that no value can contain control characters. Empty values are left out. */
function leaves(path: string, value: unknown): Map<string, string> {
  if (value === undefined || value === null || value === '') return new Map()
  const isMap = typeof value === 'object' && !Array.isArray(value)
  if (!isMap) return new Map([[path, JSON.stringify(value)]])
  return new Map(Object.entries(value).flatMap(([key, its]) => [...leaves(`${path}.${key}`, its)]))
}
