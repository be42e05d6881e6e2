// Fleet files -> what is wanted. Nothing is sent before every problem of every file is known.

import { isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, type YAMLMap } from 'yaml'
import { type Fields, type Kind, kinds } from './fleet-kind.ts'
import { placeOf } from './place-of.ts'
import type { Source } from './read-sources.ts'
import { buildComplain, type Complain } from './schema-words.ts'
import { keyText, YamlReader } from './yaml-reader.ts'

export type Wanted = { kind: Kind; name: string; content: Fields }

export type Fleet = {
  items: Wanted[]
  /** Those that the files speak of, if only to say that there is none. */
  kinds: Set<Kind>
}

/** Each a line: file:line:column: what. */
export class FleetFileError extends Error {
  override name = 'FleetFileError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

const known = 'a fleet file has jobs, devices and webhooks, and x-… for what is yours'

export function parseFleet(sources: readonly Source[]): Fleet {
  const parser = new FleetParser()
  for (const source of sources) parser.read(source)
  if (parser.problems.length > 0) throw new FleetFileError(parser.problems)
  return { items: [...parser.items.values()].flatMap((byName) => [...byName.values()]), kinds: parser.kinds }
}

type Complaints = { name: Complain; content: Complain }
type Placed = Wanted & { place: string }

class FleetParser {
  readonly problems: string[] = []
  readonly kinds = new Set<Kind>()
  readonly items = new Map<Kind, Map<string, Placed>>(kinds.map((kind) => [kind, new Map()]))
  readonly #complaints = new Map<Kind, Complaints>(
    kinds.map((kind) => [
      kind,
      { name: buildComplain(kind.nameSchema), content: buildComplain(kind.contentSchema) },
    ]),
  )

  read({ file, text }: Source): void {
    const lines = new LineCounter()
    const at = (offset: number) => {
      const { line, col } = lines.linePos(offset)
      return `${file}:${line}:${col}`
    }
    const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
    // A stream without a document is no list of documents.
    for (const document of Array.isArray(documents) ? documents : []) {
      const troubles = [...document.errors, ...document.warnings]
      for (const { pos, message } of troubles) this.problems.push(`${at(pos[0])}: ${message}`)
      if (troubles.length > 0 || document.contents === null) continue
      new DocumentParser(this, at).read(document.contents)
    }
  }

  add(kind: Kind, name: string, content: Fields, place: string, tell: TellPath): void {
    const { name: ofName, content: ofContent } = this.#complaints.get(kind) as Complaints
    const complaints = [...ofName(name), ...ofContent(content)]
    for (const { path, words } of complaints) tell(path, words)
    if (complaints.length > 0) return
    const refusal = kind.refusal(name, content)
    if (refusal !== undefined) tell([], refusal)
    const byName = this.items.get(kind) as Map<string, Placed>
    const before = byName.get(name)
    if (before !== undefined) tell([], `is there twice; the other is at ${before.place}`)
    byName.set(name, { kind, name, content, place })
  }
}

type TellPath = (path: string[], words: string) => void

class DocumentParser {
  readonly #fleet: FleetParser
  readonly #at: (offset: number) => string
  readonly #reader: YamlReader

  constructor(fleet: FleetParser, at: (offset: number) => string) {
    this.#fleet = fleet
    this.#at = at
    this.#reader = new YamlReader((node, problem) => this.#tell(node, problem))
  }

  read(contents: Node): void {
    if (!isMap(contents)) {
      if (!isScalar(contents) || contents.value !== null) this.#tell(contents, `must be a map: ${known}`)
      return
    }
    for (const pair of contents.items) {
      const field = keyText(pair)
      const kind = kinds.find((each) => each.field === field)
      if (kind !== undefined) this.#readKind(kind, pair.key as Node, pair.value)
      else if (field?.startsWith('x-')) this.#reader.read(pair.value)
      else this.#tell(pair.key as Node, `${field}: is no field that is known here; ${known}`)
    }
  }

  #readKind(kind: Kind, key: Node, node: unknown): void {
    this.#fleet.kinds.add(kind)
    if (isMap(node)) this.#readMap(kind, node)
    else if (isSeq(node)) for (const item of node.items) this.#readListed(kind, item as Node)
    else this.#tell(key, `${kind.field}: must be a map or a list; write {} to say that there are none`)
  }

  #readMap(kind: Kind, map: YAMLMap): void {
    for (const pair of map.items) {
      const name = keyText(pair)
      const value = this.#reader.read(pair.value) ?? {}
      if (name === undefined) this.#tell(pair.key as Node, `${kind.field}: a name must be text`)
      else this.#add(kind, name, value as Fields, pair.key as Node, pair.value)
    }
  }

  /** `- kiosk-1`, or a map that has the name among its fields. */
  #readListed(kind: Kind, node: Node): void {
    const value = this.#reader.read(node)
    const fields = typeof value === 'string' ? { [kind.nameField]: value } : ((value ?? {}) as Fields)
    const { [kind.nameField]: name, ...content } = fields
    if (typeof name === 'string') this.#add(kind, name, content, node, node)
    else this.#tell(node, `${kind.field}: each needs a ${kind.nameField}, which must be a string`)
  }

  #add(kind: Kind, name: string, content: Fields, key: Node, value: unknown): void {
    this.#fleet.add(kind, name, content, this.#placeOf(key), (path, words) => {
      const node = placeOf(value, path) ?? key
      this.#tell(
        node,
        `${[kind.word, name].join(' ')}${path.length > 0 ? `, ${path.join('.')}` : ''}: ${words}`,
      )
    })
  }

  #tell(node: Node | null | undefined, problem: string): void {
    this.#fleet.problems.push(`${this.#placeOf(node)}: ${problem}`)
  }

  #placeOf(node: Node | null | undefined): string {
    return this.#at(node?.range?.[0] ?? 0)
  }
}
