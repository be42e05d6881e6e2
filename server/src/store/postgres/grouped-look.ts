// Looks by key, many in one statement: whoever asks while one is under way is looked for by the next. So an answer is
// never older than the question, and many calls with one key cost as much as one.

export class GroupedLook<Value> {
  readonly #look: (keys: string[]) => Promise<Map<string, Value>>
  #next: { keys: Set<string>; found: Promise<Map<string, Value>> } | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(look: (keys: string[]) => Promise<Map<string, Value>>) {
    this.#look = look
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
      return this.#look([...keys])
    }
    const found = this.#last.then(begin, begin)
    this.#last = found.catch(() => undefined)
    return { keys, found }
  }
}
