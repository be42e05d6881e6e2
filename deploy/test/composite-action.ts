// Runs the steps of a composite action as the runner of GitHub Actions does: inputs in variables, each step in bash, the files that
// steps write, and the commands that they print.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parse } from 'yaml'
import { repository } from './files.ts'

type Step = { id?: string; name: string; shell: string; run: string; env?: Record<string, string> }
type Action = {
  inputs: Record<string, { required?: boolean; default?: string }>
  outputs: Record<string, { value: string }>
  runs: { using: string; steps: Step[] }
}
type Annotation = { kind: string; title: string; message: string }
export type Finished = {
  code: number
  /** As the log shows it, with what is masked as `***`. */
  log: string
  outputs: Record<string, string>
  annotations: Annotation[]
  summary: string
}
type Options = { inputs: Record<string, string>; env: Record<string, string>; signal?: Promise<unknown> }

export function readAction(path: string): Action {
  return parse(readFileSync(join(repository, path), 'utf8')) as Action
}

/** `folder` is empty, and of this call. Ends with the first step that fails. */
export async function runAction(
  path: string,
  folder: string,
  { inputs, env, signal }: Options,
): Promise<Finished> {
  const action = readAction(path)
  const given = inputsOf(action, inputs)
  const files = ['output', 'summary', 'path', 'env'].map((name) => join(folder, name)) as Files
  const outputs: Record<string, Record<string, string>> = {}
  const all = { printed: '', summary: '', code: 0 }
  let searched = env.PATH ?? ''
  mkdirSync(join(folder, 'temp'))
  for (const step of action.runs.steps) {
    for (const file of files) writeFileSync(file, '')
    const { code, printed } = await runStep(step, join(folder, 'script.sh'), signal, {
      ...{ ...env, PATH: searched, CI: 'true', GITHUB_ACTIONS: 'true' },
      ...{
        GITHUB_OUTPUT: files[0],
        GITHUB_STEP_SUMMARY: files[1],
        GITHUB_PATH: files[2],
        GITHUB_ENV: files[3],
      },
      ...{ GITHUB_ACTION_PATH: join(repository, dirname(path)), RUNNER_TEMP: join(folder, 'temp') },
      ...Object.fromEntries(
        Object.entries(step.env ?? {}).map(([name, value]) => [name, filledIn(value, given)]),
      ),
    })
    all.printed += printed
    all.summary += readFileSync(files[1], 'utf8')
    searched = [...linesOf(files[2]).reverse(), searched].join(':')
    if (step.id) outputs[step.id] = readOutputs(files[0])
    all.code = code
    if (code !== 0) break
  }
  const { summary, code, printed } = all
  const named = Object.entries(action.outputs).map(([name, { value }]) => [name, outputIn(value, outputs)])
  return { code, summary, ...readCommands(printed), outputs: Object.fromEntries(named) }
}

type Files = [output: string, summary: string, path: string, env: string]

function inputsOf({ inputs }: Action, given: Record<string, string>): Record<string, string> {
  const unknown = Object.keys(given).find((name) => !(name in inputs))
  if (unknown) throw new Error(`there is no input ${unknown}`)
  return Object.fromEntries(
    Object.entries(inputs).map(([name, { default: usual = '' }]) => [name, given[name] ?? usual]),
  )
}

async function runStep(
  { shell, run }: Step,
  file: string,
  signal: Promise<unknown> | undefined,
  env: Record<string, string>,
): Promise<{ code: number; printed: string }> {
  if (shell !== 'bash') throw new Error(`no rule for the shell ${shell}`)
  writeFileSync(file, run)
  const child = spawn('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', file], { env, stdio: 'pipe' })
  child.stdin.end()
  void signal?.then(() => child.kill('SIGINT'))
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code: code ?? 1, printed: stdout + stderr }
}

/** A value is one expression, or has none. */
function filledIn(value: string, inputs: Record<string, string>): string {
  const [, name] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value) ?? []
  if (name === undefined || inputs[name] === undefined) throw new Error(`no rule for ${value}`)
  return inputs[name]
}

function outputIn(value: string, outputs: Record<string, Record<string, string>>): string {
  const [, step = '', name = ''] = /^\$\{\{ steps\.([\w-]+)\.outputs\.([\w-]+) \}\}$/.exec(value) ?? []
  if (step === '') throw new Error(`no rule for ${value}`)
  return outputs[step]?.[name] ?? ''
}

/** `name<<delimiter`, lines, the delimiter; a later one takes the place of an earlier one. */
function readOutputs(file: string): Record<string, string> {
  const lines = linesOf(file)
  const outputs: Record<string, string> = {}
  for (let at = 0; at < lines.length; at++) {
    const [, name, delimiter] = /^([\w-]+)<<(.+)$/.exec(lines[at] ?? '') ?? []
    if (name === undefined || delimiter === undefined) throw new Error(`not an output: ${lines[at]}`)
    const end = lines.indexOf(delimiter, at)
    if (end < 0) throw new Error(`${name} does not end`)
    outputs[name] = lines.slice(at + 1, end).join('\n')
    at = end
  }
  return outputs
}

/** As the runner finds them: at the start of a line, whatever stands before in spaces, and `##[…]` anywhere. */
function readCommands(printed: string): Pick<Finished, 'log' | 'annotations'> {
  const annotations: Annotation[] = []
  const masks: string[] = []
  const log: string[] = []
  let stopped: string | undefined
  for (const line of printed.split('\n')) {
    const [, kind = '', properties = '', message = ''] = /^\s*::([\w-]+)(?: ([^:]*))?::(.*)$/.exec(line) ?? []
    if (stopped !== undefined) {
      if (line.trim() === `::${stopped}::`) stopped = undefined
      else log.push(line)
    } else if (kind === 'stop-commands') stopped = message
    else if (kind === 'add-mask') masks.push(decoded(message))
    else if (/^(?:error|warning|notice)$/.test(kind)) {
      const [, title = ''] = /(?:^|,)title=([^,]*)/.exec(properties) ?? []
      annotations.push({ kind, title: decoded(title), message: decoded(message) })
    } else if (kind !== '' || line.includes('##[')) throw new Error(`an unexpected command: ${line}`)
    else log.push(line)
  }
  const shown = masks.reduce((all, secret) => all.replaceAll(secret, '***'), log.join('\n'))
  return { log: shown, annotations }
}

function decoded(text: string): string {
  const codes: Record<string, string> = { '%0D': '\r', '%0A': '\n', '%3A': ':', '%2C': ',', '%25': '%' }
  return text.replace(/%(?:0D|0A|3A|2C|25)/g, (each) => codes[each] ?? each)
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1)
}
