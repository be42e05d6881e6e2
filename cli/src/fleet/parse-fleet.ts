// Fleet files -> desired resources. All problems of all files are found before anything is sent.

import { isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, type YAMLMap } from 'yaml'
import { kinds } from './fleet-kind.ts'
import type { Fields, Kind } from './kinds/kind.ts'
import { nodeAt } from './node-at.ts'
import type { Source } from './read-sources.ts'
import { buildCheck, type Check } from './schema-problems.ts'
import { keyText, YamlReader } from './yaml-reader.ts'

export type Wanted = { kind: Kind; name: string; content: Fields }

export type Fleet = {
  items: Wanted[]
  /** The kinds that the files mention, even with an empty list. */
  kinds: Set<Kind>
}

/** Each problem is a line: file:line:column: problem. */
export class FleetFileError extends Error {
  override name = 'FleetFileError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

const allowedFields = `the fields of a fleet file are ${kinds.map(({ field }) => field).join(', ')}, and x-… for your own use`

export function parseFleet(sources: readonly Source[]): Fleet {
  const parser = new FleetParser()
  for (const source of sources) parser.read(source)
  if (parser.problems.length > 0) throw new FleetFileError(parser.problems)
  return { items: [...parser.items.values()].flatMap((byName) => [...byName.values()]), kinds: parser.kinds }
}

type Checks = { name: Check; content: Check }
type Located = Wanted & { position: string }

class FleetParser {
  readonly problems: string[] = []
  readonly kinds = new Set<Kind>()
  readonly items = new Map<Kind, Map<string, Located>>(kinds.map((kind) => [kind, new Map()]))
  readonly #findings = new Map<Kind, Checks>(
    kinds.map((kind) => [
      kind,
      { name: buildCheck(kind.nameSchema), content: buildCheck(kind.contentSchema) },
    ]),
  )

  read({ file, text }: Source): void {
    const lines = new LineCounter()
    const at = (offset: number) => {
      const { line, col } = lines.linePos(offset)
      return `${file}:${line}:${col}`
    }
    const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
    // An empty stream is not returned as a list of documents.
    for (const document of Array.isArray(documents) ? documents : []) {
      const syntaxErrors = [...document.errors, ...document.warnings]
      for (const { pos, message } of syntaxErrors) this.problems.push(`${at(pos[0])}: ${message}`)
      if (syntaxErrors.length > 0 || document.contents === null) continue
      new DocumentParser(this, at).read(document.contents)
    }
  }

  add(kind: Kind, name: string, content: Fields, position: string, report: ReportPath): void {
    const { name: ofName, content: ofContent } = this.#findings.get(kind) as Checks
    const findings = [...ofName(name), ...ofContent(content)]
    for (const { path, message } of findings) report(path, message)
    if (findings.length > 0) return
    const refusal = kind.refusal(name, content)
    if (refusal !== undefined) report([], refusal)
    const byName = this.items.get(kind) as Map<string, Located>
    const before = byName.get(name)
    if (before !== undefined) report([], `duplicate; first defined at ${before.position}`)
    byName.set(name, { kind, name, content, position })
  }
}

type ReportPath = (path: string[], message: string) => void

class DocumentParser {
  readonly #fleet: FleetParser
  readonly #at: (offset: number) => string
  readonly #reader: YamlReader

  constructor(fleet: FleetParser, at: (offset: number) => string) {
    this.#fleet = fleet
    this.#at = at
    this.#reader = new YamlReader((node, problem) => this.#report(node, problem))
  }

  read(contents: Node): void {
    if (!isMap(contents)) {
      if (!isScalar(contents) || contents.value !== null)
        this.#report(contents, `must be a map: ${allowedFields}`)
      return
    }
    for (const pair of contents.items) {
      const field = keyText(pair)
      const kind = kinds.find((each) => each.field === field)
      if (kind !== undefined) this.#readKind(kind, pair.key as Node, pair.value)
      else if (field?.startsWith('x-')) this.#reader.read(pair.value)
      else this.#report(pair.key as Node, `unknown field ${field}; ${allowedFields}`)
    }
  }

  #readKind(kind: Kind, key: Node, node: unknown): void {
    this.#fleet.kinds.add(kind)
    if (isMap(node)) this.#readMap(kind, node)
    else if (isSeq(node)) for (const item of node.items) this.#readListed(kind, item as Node)
    else this.#report(key, `${kind.field}: must be a map or a list; write {} for none`)
  }

  #readMap(kind: Kind, map: YAMLMap): void {
    for (const pair of map.items) {
      const name = keyText(pair)
      const value = this.#reader.read(pair.value) ?? {}
      if (name === undefined) this.#report(pair.key as Node, `${kind.field}: a name must be a string`)
      else this.#add(kind, name, value as Fields, pair.key as Node, pair.value)
    }
  }

  /** `- kiosk-1`, or a map that has the name among its fields. */
  #readListed(kind: Kind, node: Node): void {
    const value = this.#reader.read(node)
    const fields = typeof value === 'string' ? { [kind.nameField]: value } : ((value ?? {}) as Fields)
    const { [kind.nameField]: name, ...content } = fields
    if (typeof name === 'string') this.#add(kind, name, content, node, node)
    else this.#report(node, `${kind.field}: ${kind.nameField} is required and must be a string`)
  }

  #add(kind: Kind, name: string, content: Fields, key: Node, value: unknown): void {
    this.#fleet.add(kind, name, content, this.#positionOf(key), (path, message) => {
      const node = nodeAt(value, path) ?? key
      this.#report(
        node,
        `${[kind.noun, name].join(' ')}${path.length > 0 ? `, ${path.join('.')}` : ''}: ${message}`,
      )
    })
  }

  #report(node: Node | null | undefined, problem: string): void {
    this.#fleet.problems.push(`${this.#positionOf(node)}: ${problem}`)
  }

  #positionOf(node: Node | null | undefined): string {
    return this.#at(node?.range?.[0] ?? 0)
  }
}
