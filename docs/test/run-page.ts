// Runs a page from top to bottom, as a reader would.
//
// The words after the language of a block, which readers do not see, say what to do with it:
//   ```sh                 run it; the page fails if it fails
//   ```sh fails           run it; the page fails unless it fails
//   ```sh terminal=2      run it in another terminal, until that terminal has another block or the page ends
//   ```ts                 run the program with Node; js alike
//   ```yaml fleet.yaml    write a file of that name, which a block below uses; any language
//   ```yaml .github/workflows/…   write a workflow and run its steps
//   ```text               compare it with what the block above printed; ```json the same
//   ```json Event         check it against the schema of that name in docs/openapi.json
//   ```js of=docs/x.mjs   check that the file contains these lines
//   ```text terminal=2    wait until that terminal shows this
//   ```text npm-start     wait until the terminal with `npm start` shows these lines, in any order
// Any other block fails.
//
// Numbers of runs and executions in what is printed are those of a new service: see page-ids.ts.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { within } from '@jobcast/testkit/within'
import { checkDescribed, checkExcerpt } from './check-block.ts'
import { isSameJson, looksLike } from './expected-output.ts'
import type { Block } from './markdown.ts'
import type { LastIds, Sandbox } from './open-sandbox.ts'
import { documentedIds } from './page-ids.ts'
import { Terminal } from './terminal.ts'
import { scriptOf } from './workflow.ts'

/** A failsafe, far above what a block takes on a machine that does twenty other things at once. */
const blockFailsafeMs = 240_000

export async function runPage(
  blocks: readonly Block[],
  sandbox: Sandbox,
  signal?: AbortSignal,
): Promise<void> {
  const reader = new Reader(sandbox, blocks, await sandbox.lastIds())
  // Programs that are still running would keep a test alive after its timeout.
  signal?.addEventListener('abort', () => void reader.closeAll())
  const at = (where: string, act: () => Promise<void>) =>
    within(blockFailsafeMs, () => `it does not end:\n${reader.printed}`, act()).catch((error: Error) => {
      throw new Error(`${where}: ${reader.asDocumented(error.message)}`)
    })
  try {
    for (const block of blocks) await at(`line ${block.line}`, () => reader.follow(block))
    await at('the end', () => reader.finish())
  } finally {
    await reader.closeAll()
  }
}

class Reader {
  readonly #sandbox: Sandbox
  readonly #blocks: readonly Block[]
  readonly #idsBefore: LastIds
  readonly #main: Terminal
  readonly #background = new Map<string, Terminal>()
  #opened = 0
  /** Of the last block that was run. */
  #printed: string | undefined

  constructor(sandbox: Sandbox, blocks: readonly Block[], idsBefore: LastIds) {
    this.#sandbox = sandbox
    this.#blocks = blocks
    this.#idsBefore = idsBefore
    this.#main = new Terminal(sandbox, 'terminal-1')
  }

  /** Everything that is on the terminals, for messages. */
  get printed(): string {
    return [this.#main, ...this.#background.values()].map(({ printed }) => printed).join('\n---\n')
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
    if (language === 'text' && words[0] === 'npm-start') return this.#awaitDeviceLog(block)
    const script = isProgram ? this.#programScript(block) : this.#here(block.text)
    if (language !== 'sh' && !isProgram) throw new Error(`there is no rule for a block of "${language}"`)
    if (terminal) return this.#startInBackground(script, terminal)
    if (words[0] === 'fails') this.#printed = await this.#main.runToFail(script)
    else if (words.length > 0) throw new Error(`there is no rule for "${words.join(' ')}"`)
    else this.#printed = await this.#main.run(script)
  }

  /** Stops programs in the background; throws if one of them has failed. */
  async finish(): Promise<void> {
    for (const name of this.#background.keys()) await this.#stopTerminal(name)
  }

  async #stopTerminal(name: string): Promise<void> {
    await this.#background
      .get(name)
      ?.stop()
      .catch((error: Error) => {
        throw new Error(`in ${name}: ${error.message}`)
      })
  }

  /** Ends all programs. */
  async closeAll(): Promise<void> {
    await Promise.all([this.#main, ...this.#background.values()].map((terminal) => terminal.close()))
  }

  /** What was printed, with the addresses and ids of the page. */
  asDocumented(text: string): string {
    const { addresses } = this.#sandbox
    const printed = addresses.reduce((all, [documented, real]) => all.replaceAll(real, documented), text)
    return documentedIds(printed, this.#idsBefore)
  }

  /** What the page says, with the addresses of this service. */
  #here(text: string): string {
    const { addresses } = this.#sandbox
    return addresses.reduce((all, [documented, real]) => all.replaceAll(documented, real), text)
  }

  async #writeFile(block: Block, file: string): Promise<void> {
    const path = join(this.#sandbox.folder, file)
    mkdirSync(dirname(path), { recursive: true })
    const isScript = block.text.startsWith('#!')
    writeFileSync(path, this.#here(block.text), { mode: isScript ? 0o755 : 0o644 })
    if (file.startsWith('.github/workflows/')) {
      this.#printed = await this.#main.run(this.#here(scriptOf(block.text)))
      return
    }
    const isUsed = this.#blocks.some(({ line, text }) => line > block.line && text.includes(file))
    if (!isUsed) throw new Error(`no block below it uses ${file}`)
  }

  #programScript({ line, language, text }: Block): string {
    const file = `line-${line}.${language}`
    writeFileSync(join(this.#sandbox.folder, file), this.#here(text))
    return `node ${file}\n`
  }

  async #startInBackground(script: string, name: string): Promise<void> {
    await this.#stopTerminal(name)
    const terminal = new Terminal(this.#sandbox, `background-${++this.#opened}`)
    this.#background.set(name, terminal)
    await terminal.start(script, this.#main)
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
    const terminal = this.#background.get(name)
    if (terminal === undefined) throw new Error(`nothing was started in ${name}`)
    const isEnough = (printed: string) => looksLike(text, this.asDocumented(printed), { isWhole: false })
    await terminal.shows(isEnough)
  }

  /** In any order: devices work at the same time. */
  async #awaitDeviceLog({ text }: Block): Promise<void> {
    const lines = text.trim().split('\n')
    const isLogged = (line: string, log: readonly string[]) =>
      log.some((logged) => looksLike(line.replace(/^[\d:]+ /, ''), logged))
    await this.#sandbox.deviceLog.until((log) => lines.every((line) => isLogged(line, log)))
  }
}
