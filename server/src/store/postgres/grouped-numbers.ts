// Numbers of a sequence, many in one statement: whoever asks while one is under way gets its number by the next. So a
// number is never older than the question.

type Taker = { resolve: (number: number) => void; reject: (error: unknown) => void }

export class GroupedNumbers {
  readonly #takeMany: (count: number) => Promise<number[]>
  #waiting: Taker[] = []
  #isTaking = false

  constructor(takeMany: (count: number) => Promise<number[]>) {
    this.#takeMany = takeMany
  }

  take(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (!this.#isTaking) void this.#takeAll()
    })
  }

  async #takeAll(): Promise<void> {
    this.#isTaking = true
    while (this.#waiting.length > 0) {
      const takers = this.#waiting
      this.#waiting = []
      try {
        const numbers = await this.#takeMany(takers.length)
        for (const [index, { resolve }] of takers.entries()) resolve(numbers[index] as number)
      } catch (error) {
        for (const { reject } of takers) reject(error)
      }
    }
    this.#isTaking = false
  }
}
