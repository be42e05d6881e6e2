// One command of jobcast. Its messages contain names that others have chosen, so GitHub must not read commands in them.

import { spawn } from 'node:child_process'
import { read } from './inputs.mjs'
import { withoutCommands } from './workflow-commands.mjs'

const maxMessages = 64 * 1024

/** `json` is undefined unless it printed a JSON document; `message` is the last one that is an error. */
export async function callJobcast(args, { input = '', isQuiet = false } = {}) {
  const child = spawn('jobcast', args, { env: environment(), stdio: 'pipe' })
  const stopForwarding = forwardSignals(child)
  const { stdout, stderr, stdin } = child
  let printed = ''
  let messages = ''
  stdout.setEncoding('utf8').on('data', (text) => {
    printed += text
  })
  stderr.setEncoding('utf8').on('data', (text) => {
    messages = (messages + text).slice(-maxMessages)
    if (!isQuiet) withoutCommands(text)
  })
  stdin.on('error', () => undefined).end(input)
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (status) => resolve(status ?? 1))
  }).finally(stopForwarding)
  return { code, json: parse(printed), message: errorIn(messages) }
}

/** When the workflow is canceled, the command ends its wait, and the run continues. */
function forwardSignals(child) {
  const names = ['SIGINT', 'SIGTERM']
  const forward = (name) => child.kill(name)
  for (const name of names) process.on(name, forward)
  return () => {
    for (const name of names) process.off(name, forward)
  }
}

/** The key is a variable: arguments are visible to other programs. */
function environment() {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('INPUT_'))
  const apiKey = read('API_KEY')
  return {
    ...Object.fromEntries(others),
    JOBCAST_URL: read('URL'),
    ...(apiKey && { JOBCAST_API_KEY: apiKey }),
    ...(read('AUDIENCE') && { JOBCAST_ID_TOKEN_AUDIENCE: read('AUDIENCE') }),
  }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function errorIn(messages) {
  const lines = messages.split('\n')
  const errors = lines.filter((line) =>
    /^(?:jobcast|error): |^Run \d+ (?:is paused|waits|has not)/.test(line),
  )
  return (
    errors.at(-1)?.replace(/^(?:jobcast|error): /, '') ?? 'jobcast was unsuccessful; its messages are above.'
  )
}
