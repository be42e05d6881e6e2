// Lookups by key, many in one statement: calls that arrive during a statement are answered by the next one. So a result is
// never older than its call, and many calls with one key cost as much as one.

export class GroupedLookup<Value> {
  readonly #lookUp: (keys: string[]) => Promise<Map<string, Value>>
  #next: { keys: Set<string>; found: Promise<Map<string, Value>> } | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(lookUp: (keys: string[]) => Promise<Map<string, Value>>) {
    this.#lookUp = lookUp
  }

  async find(key: string): Promise<Value | undefined> {
    this.#next ??= this.#gather()
    this.#next.keys.add(key)
    return (await this.#next.found).get(key)
  }

  #gather() {
    const keys = new Set<string>()
    const begin = () => {
      this.#next = undefined
      return this.#lookUp([...keys])
    }
    const found = this.#last.then(begin, begin)
    this.#last = found.catch(() => undefined)
    return { keys, found }
  }
}
