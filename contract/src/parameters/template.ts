// A document with placeholders, parsed once and filled in for each device: pieces of JSON text with holes between them.

import { type Placeholder, PlaceholderError, parseText } from './placeholder.ts'

export type ParameterValue = string | number | boolean | (string | number | boolean)[]
export type ParameterValues = Readonly<Record<string, ParameterValue>>
/** Secrets by name. */
export type SecretValues = Readonly<Record<string, string>>
/** Values of files by reference and field: `app.url`, `app@1.4.size`. */
export type FileValues = Readonly<Record<string, string | number>>
export type DeviceValues = {
  readonly deviceId: string
  readonly deviceName: string
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}
/** Placeholders without an entry remain holes. */
export type PlaceholderValues = {
  readonly params?: ParameterValues
  readonly secrets?: SecretValues
  readonly files?: FileValues
  /** URLs of objects by the name of the placeholder. */
  readonly objects?: Readonly<Record<string, string>>
  readonly run?: { readonly runId: number }
  readonly device?: DeviceValues
}

/** `isWhole`: the text is exactly this placeholder, so the result has the type of the value. */
type Hole = Placeholder & { isWhole: boolean }
/** `texts` has one more than `holes`: JSON text before, between and after them. */
export type DocumentTemplate = { readonly texts: readonly string[]; readonly holes: readonly Hole[] }
/** `missing`: placeholders without a value and without `:-`; if there are any, there is no document. */
export type Resolved = { document: unknown; missing: [] } | { document: undefined; missing: Placeholder[] }

/** Limits the size of a document of 64 KiB with large values, which devices must be able to receive. */
export const maxPlaceholders = 256
/** A lower limit for secrets, which may have 16 KiB each. */
export const maxSecretPlaceholders = 16
/** A lower limit for objects of a bucket, whose URLs are long. */
export const maxObjectPlaceholders = 16

/** Throws a PlaceholderError. Placeholders in field names are not replaced. */
export function parseDocument(document: unknown): DocumentTemplate {
  const texts = ['']
  const holes: Hole[] = []
  let secrets = 0
  let objects = 0
  const write = (json: string) => {
    texts[texts.length - 1] += json
  }
  const walk = (value: unknown): void => {
    if (typeof value === 'string') writeText(value)
    else if (Array.isArray(value)) writeAll('[', value, ']', walk)
    else if (typeof value === 'object' && value !== null) {
      const member = ([name, of]: [string, unknown]) => {
        write(`${JSON.stringify(name)}:`)
        walk(of)
      }
      writeAll('{', Object.entries(value), '}', member)
    } else write(JSON.stringify(value))
  }
  const writeAll = <T>(open: string, items: T[], close: string, writeItem: (item: T) => void) => {
    write(open)
    for (const [index, item] of items.entries()) {
      if (index > 0) write(',')
      writeItem(item)
    }
    write(close)
  }
  const writeText = (text: string) => {
    const parts = text.includes('${') ? parseText(text) : [text]
    const [first] = parts
    if (parts.length === 1 && typeof first === 'object') return addHole({ ...first, isWhole: true })
    write('"')
    for (const part of parts) {
      if (typeof part === 'string') write(insideJson(part))
      else addHole({ ...part, isWhole: false })
    }
    write('"')
  }
  const addHole = (hole: Hole) => {
    if (holes.length === maxPlaceholders) {
      throw new PlaceholderError(`a document has at most ${maxPlaceholders} placeholders`)
    }
    if (hole.from === 'secrets' && ++secrets > maxSecretPlaceholders) {
      throw new PlaceholderError(`a document has at most ${maxSecretPlaceholders} placeholders of secrets`)
    }
    if (hole.from === 'object' && ++objects > maxObjectPlaceholders) {
      throw new PlaceholderError(`a document has at most ${maxObjectPlaceholders} placeholders of AWS`)
    }
    holes.push(hole)
    texts.push('')
  }
  walk(document)
  return { texts, holes }
}

/** Fills in the given values. Parameters of a run are filled in once, and values that differ by device later. */
export function fillTemplate(
  template: DocumentTemplate,
  values: PlaceholderValues,
): { template: DocumentTemplate; missing: Placeholder[] } {
  const texts: string[] = []
  const holes: Hole[] = []
  const missing: Placeholder[] = []
  let text = template.texts[0] ?? ''
  for (const [index, hole] of template.holes.entries()) {
    const after = template.texts[index + 1] ?? ''
    const source = sourceOf(hole, values)
    const value = source && (ownValue(source, hole.name) ?? hole.otherwise)
    if (value !== undefined) {
      text += (hole.isWhole ? JSON.stringify(value) : insideJson(spelled(value))) + after
      continue
    }
    if (source !== undefined) missing.push(hole)
    texts.push(text)
    holes.push(hole)
    text = after
  }
  texts.push(text)
  return { template: { texts, holes }, missing }
}

/** The JSON text of a template without holes. */
export function templateJson({ texts, holes }: DocumentTemplate): string {
  if (holes.length > 0) throw new Error(`${holes.length} placeholders have no value yet`)
  return texts.join('')
}

/** A document for one device. Throws a PlaceholderError if it cannot be read. */
export function resolveDocument(
  document: unknown,
  values: Required<Omit<PlaceholderValues, 'files' | 'objects'>> &
    Pick<PlaceholderValues, 'files' | 'objects'>,
): Resolved {
  const { template, missing } = fillTemplate(parseDocument(document), { files: {}, objects: {}, ...values })
  if (missing.length > 0) return { document: undefined, missing }
  return { document: JSON.parse(templateJson(template)), missing: [] }
}

/** The parameters, secrets, objects or attributes that the document uses, without duplicates. */
export function namesUsed(
  { holes }: DocumentTemplate,
  from: 'params' | 'secrets' | 'object' | 'attributes',
): string[] {
  return [...new Set(holes.filter((hole) => hole.from === from).map(({ name }) => name))]
}

type Source = Readonly<Record<string, ParameterValue>>

function sourceOf(
  { from }: Hole,
  { params, secrets, files, objects, run, device }: PlaceholderValues,
): Source | undefined {
  if (from === 'params') return params
  if (from === 'secrets') return secrets
  if (from === 'file') return files
  if (from === 'object') return objects
  if (from === 'run') return run
  return from === 'attributes' ? device?.attributes : device && { ...device, attributes: '' }
}

function ownValue(source: Source, name: string): ParameterValue | undefined {
  return Object.hasOwn(source, name) ? source[name] : undefined
}

function spelled(value: ParameterValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function insideJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
