// Runs a page from top to bottom, as a reader would.
//
// What stands behind the language of a block tells more; readers do not see it:
//   ```sh                 is run; the page fails if it does
//   ```sh fails           is to fail
//   ```sh terminal=2      stays, in a terminal of its own, until that terminal has another block or the page ends
//   ```ts                 a program, run by Node; js alike
//   ```yaml fleet.yaml    a file of that name, for the blocks below it; in any language
//   ```yaml .github/workflows/…   a file whose steps are run
//   ```text               what the block above has printed; ```json the same
//   ```json Event         what the API describes under that name, in docs/openapi.json
//   ```js of=docs/x.mjs   lines of that file
//   ```text terminal=2    what that terminal shows by now, or soon
//   ```text npm-start     lines that the terminal with `npm start` shows by now, or soon
// Whatever is none of these fails.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { within } from '@jobcast/testkit/within'
import { isSameJson, looksLike } from './expected-output.ts'
import type { Block } from './markdown.ts'
import type { LastIds, World } from './open-world.ts'
import { documentedIds, realIds } from './page-ids.ts'
import { checkDescribed, checkExcerpt } from './stated.ts'
import { Terminal } from './terminal.ts'
import { scriptOf } from './workflow.ts'

/** A failsafe, far above what a block takes. */
const aMinuteMs = 60_000

export async function runPage(blocks: readonly Block[], world: World, signal?: AbortSignal): Promise<void> {
  const reader = new Reader(world, blocks, await world.lastIds())
  // Programs that a page left running would keep a test alive whose time is up.
  signal?.addEventListener('abort', () => void reader.leave())
  const at = (place: string, act: () => Promise<void>) =>
    within(aMinuteMs, () => `it does not end:\n${reader.printed}`, act()).catch((error: Error) => {
      throw new Error(`${place}: ${reader.asDocumented(error.message)}`)
    })
  try {
    for (const block of blocks) await at(`line ${block.line}`, () => reader.follow(block))
    await at('the end', () => reader.finish())
  } finally {
    await reader.leave()
  }
}

class Reader {
  readonly #world: World
  readonly #blocks: readonly Block[]
  readonly #idsBefore: LastIds
  readonly #first: Terminal
  readonly #others = new Map<string, Terminal>()
  #opened = 0
  /** Of the last block that was run. */
  #printed: string | undefined

  constructor(world: World, blocks: readonly Block[], idsBefore: LastIds) {
    this.#world = world
    this.#blocks = blocks
    this.#idsBefore = idsBefore
    this.#first = new Terminal(world, 'terminal-1')
  }

  /** By what runs now, for messages. */
  get printed(): string {
    return [this.#first, ...this.#others.values()].map(({ printed }) => printed).join('\n---\n')
  }

  async follow(block: Block): Promise<void> {
    const { language, words } = block
    const file = words.find((word) => /[./]/.test(word))
    const terminal = words.find((word) => word.startsWith('terminal='))
    const isProgram = language === 'ts' || language === 'js'
    const isOutput = language === 'text' || language === 'json'
    if (words[0]?.startsWith('of=')) return checkExcerpt(block, words[0].slice('of='.length))
    if (file !== undefined) return this.#writeFile(block, file)
    if (language === 'json' && words[0]) return checkDescribed(block, words[0])
    if (isOutput && words.length === 0) return this.#compare(block)
    if (language === 'text' && terminal) return this.#awaitTerminal(block, terminal)
    if (language === 'text' && words[0] === 'npm-start') return this.#awaitStory(block)
    const script = isProgram ? this.#programScript(block) : this.#here(block.text)
    if (language !== 'sh' && !isProgram)
      throw new Error(`nobody knows what to do with a block of "${language}"`)
    if (terminal) return this.#stay(script, terminal)
    if (words[0] === 'fails') this.#printed = await this.#first.runToFail(script)
    else if (words.length > 0) throw new Error(`"${words.join(' ')}" says nothing to the test`)
    else this.#printed = await this.#first.run(script)
  }

  /** Looks after what stays, once the page is at its end. */
  async finish(): Promise<void> {
    for (const name of this.#others.keys()) await this.#leave(name)
  }

  async #leave(name: string): Promise<void> {
    await this.#others
      .get(name)
      ?.endStaying()
      .catch((error: Error) => {
        throw new Error(`in ${name}: ${error.message}`)
      })
  }

  /** Ends whatever the page has left running. */
  async leave(): Promise<void> {
    await Promise.all([this.#first, ...this.#others.values()].map((terminal) => terminal.close()))
  }

  /** What was printed, with the addresses and ids of the page. */
  asDocumented(text: string): string {
    const { addresses } = this.#world
    const printed = addresses.reduce((all, [documented, real]) => all.replaceAll(real, documented), text)
    return documentedIds(printed, this.#idsBefore)
  }

  /** What the page says, with the addresses and ids of this service. */
  #here(text: string): string {
    const { addresses } = this.#world
    const script = addresses.reduce((all, [documented, real]) => all.replaceAll(documented, real), text)
    return realIds(script, this.#idsBefore)
  }

  async #writeFile(block: Block, file: string): Promise<void> {
    const path = join(this.#world.folder, file)
    mkdirSync(dirname(path), { recursive: true })
    const isScript = block.text.startsWith('#!')
    writeFileSync(path, this.#here(block.text), { mode: isScript ? 0o755 : 0o644 })
    if (file.startsWith('.github/workflows/')) {
      this.#printed = await this.#first.run(this.#here(scriptOf(block.text)))
      return
    }
    const isUsed = this.#blocks.some(({ line, text }) => line > block.line && text.includes(file))
    if (!isUsed) throw new Error(`no block below it uses ${file}`)
  }

  #programScript({ line, language, text }: Block): string {
    const file = `line-${line}.${language}`
    writeFileSync(join(this.#world.folder, file), this.#here(text))
    return `node ${file}\n`
  }

  async #stay(script: string, name: string): Promise<void> {
    await this.#leave(name)
    const terminal = new Terminal(this.#world, `other-${++this.#opened}`)
    this.#others.set(name, terminal)
    await terminal.start(script, this.#first)
  }

  #compare({ language, text }: Block): void {
    if (this.#printed === undefined) throw new Error('there is no block above it that prints anything')
    // Printed because an error fails here, see terminal.ts; a reader's curl prints the response and nothing else.
    const printed = this.#printed.replace(/curl: \(22\) .*\n?/g, '')
    const shown = this.asDocumented(printed)
    const isSame =
      language === 'json' ? isSameJson(JSON.parse(text), JSON.parse(shown)) : looksLike(text, shown)
    if (!isSame) throw new Error(`this is printed instead:\n${printed}`)
  }

  async #awaitTerminal({ text }: Block, name: string): Promise<void> {
    const terminal = this.#others.get(name)
    if (terminal === undefined) throw new Error(`nothing was started in ${name}`)
    const isEnough = (printed: string) => looksLike(text, this.asDocumented(printed), { isWhole: false })
    await terminal.shows(isEnough)
  }

  /** In any order: which device is first is their affair. */
  async #awaitStory({ text }: Block): Promise<void> {
    const lines = text.trim().split('\n')
    const isOf = (told: string) => (line: string) => looksLike(line.replace(/^[\d:]+ /, ''), told)
    await this.#world.story.until((told) => lines.every((line) => told.some((each) => isOf(each)(line))))
  }
}
